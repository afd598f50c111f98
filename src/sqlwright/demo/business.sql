-- Harbor & Pine, wholesale of coffee, tea and what goes with them.
CREATE TABLE employees (
    employee_id INTEGER PRIMARY KEY,
    first_name  TEXT NOT NULL,
    last_name   TEXT NOT NULL,
    title       TEXT NOT NULL,
    department  TEXT NOT NULL,
    hired_on    DATE NOT NULL,
    salary      INTEGER NOT NULL,
    manager_id  INTEGER REFERENCES employees (employee_id)
);
CREATE TABLE customers (
    customer_id  INTEGER PRIMARY KEY,
    name         TEXT NOT NULL,
    segment      TEXT NOT NULL,
    email        TEXT,
    phone        TEXT,
    city         TEXT NOT NULL,
    country      TEXT NOT NULL,
    since        DATE NOT NULL,
    credit_limit INTEGER
);
CREATE TABLE categories (
    category_id INTEGER PRIMARY KEY,
    name        TEXT NOT NULL UNIQUE
);
CREATE TABLE suppliers (
    supplier_id INTEGER PRIMARY KEY,
    company     TEXT NOT NULL,
    country     TEXT NOT NULL,
    rating      REAL
);
CREATE TABLE products (
    product_id   INTEGER PRIMARY KEY,
    sku          TEXT NOT NULL UNIQUE,
    name         TEXT NOT NULL,
    category_id  INTEGER NOT NULL REFERENCES categories (category_id),
    supplier_id  INTEGER NOT NULL REFERENCES suppliers (supplier_id),
    unit_price   REAL NOT NULL,
    unit_cost    REAL NOT NULL,
    launched_on  DATE NOT NULL,
    discontinued INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE warehouses (
    warehouse_id INTEGER PRIMARY KEY,
    code         TEXT NOT NULL UNIQUE,
    city         TEXT NOT NULL,
    capacity     INTEGER NOT NULL
);
CREATE TABLE stock_levels (
    warehouse_id  INTEGER NOT NULL REFERENCES warehouses (warehouse_id),
    product_id    INTEGER NOT NULL REFERENCES products (product_id),
    quantity      INTEGER NOT NULL,
    reorder_level INTEGER NOT NULL,
    PRIMARY KEY (warehouse_id, product_id)
) WITHOUT ROWID;
CREATE TABLE orders (
    order_id        INTEGER PRIMARY KEY,
    order_no        TEXT NOT NULL UNIQUE,
    customer_id     INTEGER NOT NULL REFERENCES customers (customer_id),
    sales_rep_id    INTEGER NOT NULL REFERENCES employees (employee_id),
    ordered_on      DATE NOT NULL,
    shipped_on      DATE,
    status          TEXT NOT NULL,
    shipping_method TEXT NOT NULL
);
CREATE TABLE order_lines (
    order_id   INTEGER NOT NULL REFERENCES orders (order_id),
    line_no    INTEGER NOT NULL,
    product_id INTEGER NOT NULL REFERENCES products (product_id),
    quantity   INTEGER NOT NULL,
    unit_price REAL NOT NULL,
    discount   REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (order_id, line_no)
);
CREATE TABLE payments (
    payment_id INTEGER PRIMARY KEY,
    order_id   INTEGER NOT NULL REFERENCES orders (order_id),
    paid_on    DATE NOT NULL,
    amount     REAL NOT NULL,
    method     TEXT NOT NULL
);
CREATE TABLE returns (
    return_id   INTEGER PRIMARY KEY,
    order_id    INTEGER NOT NULL REFERENCES orders (order_id),
    product_id  INTEGER NOT NULL REFERENCES products (product_id),
    returned_on DATE NOT NULL,
    reason      TEXT NOT NULL,
    quantity    INTEGER NOT NULL
);
CREATE TABLE support_tickets (
    ticket_id   INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
    opened_on   DATE NOT NULL,
    closed_on   DATE,
    priority    TEXT NOT NULL,
    subject     TEXT NOT NULL,
    status      TEXT NOT NULL
);
