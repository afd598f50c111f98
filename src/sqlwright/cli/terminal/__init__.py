"""The terminal: styled lines, tables, progress, interrupts. Nothing about databases."""
