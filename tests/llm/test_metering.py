"""Estimated numbers of tokens are no smaller than real ones."""

from __future__ import annotations

import pytest

from sqlwright.llm.metering import estimated_tokens, least_reply

COUNTED = [
    ("Сколько заказов было сделано клиентами из Санкт-Петербурга в прошлом году?", 22),
    ("去年有多少客户下了订单？请列出客户名称和订单总额。", 14),
    ("पिछले साल कितने ग्राहकों ने ऑर्डर दिया? नाम सूचीबद्ध करें।", 54),
    ("ปีที่แล้วมีลูกค้ากี่รายที่สั่งซื้อ", 25),
    ("كم عدد العملاء الذين قدموا طلبات في العام الماضي؟", 15),
    ("Πόσοι πελάτες έκαναν παραγγελία πέρυσι;", 36),
    ("כמה לקוחות הזמינו בשנה שעברה?", 9),
    ("cust_ord_dt_cd, xref_bal_amt, sgmt_id_nbr", 14),
    ("XQZJ_KPTW_BRNDX VBRK_FKART LIKP_VSTEL", 21),
    (
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, total REAL, -- 412 different; e.g. 17.5\n"
        "  FOREIGN KEY (customer_id) REFERENCES customers (id));",
        40,
    ),
    (
        "SELECT T1.name FROM customers AS T1 LEFT JOIN orders AS T2 ON "
        "T1.id = T2.customer_id WHERE T2.id IS NULL",
        30,
    ),
    ("List the names of the customers whose invoice total is above 500 in Hamburg.", 18),
    ("2024-11-22T10:15:00Z 0.00012345 +49 40 123456", 44),
]
"""Texts, and their tokens by Qwen's tokenizer."""


@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_an_estimate_is_an_upper_one_and_not_far_off(text: str, tokens: int) -> None:
    assert tokens <= estimated_tokens([text]) <= 4 * tokens


@pytest.mark.parametrize(
    ("wanted", "context", "reasoning", "least"),
    [
        (4_096, 4_096, False, 1_024),
        (4_096, 8_192, False, 1_024),
        (4_096, 16_384, False, 2_048),
        (4_096, 128_000, False, 4_096),
        (512, 4_096, False, 512),
        (4_096, 4_096, True, 2_048),
        (4_096, 32_768, True, 4_096),
    ],
)
def test_the_shortest_reply_goes_by_the_context(
    wanted: int, context: int, reasoning: bool, least: int
) -> None:
    assert least_reply(wanted, context, reasoning=reasoning) == least
