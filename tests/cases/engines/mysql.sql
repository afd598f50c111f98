CREATE TABLE customers (
    id INT PRIMARY KEY, name VARCHAR(60) NOT NULL COMMENT 'As they write it', vip BOOLEAN NOT NULL, born DATE, token CHAR(36), photo BLOB,
    settings JSON
) COMMENT 'Everybody who bought something';
INSERT INTO customers VALUES
    (1, 'Ada Brandt', true, '1980-02-29', '5b6bd1a4-6e57-4c27-9d50-3a2c0b2ad1a1', X'00FF10', '{"a": [1, null]}'),
    (2, 'Bo "Bob" Øst', false, NULL, NULL, NULL, NULL),
    (3, 'Chen <b>Li</b>', false, '1999-12-31', 'a0000000-0000-4000-8000-000000000000', '', '{}');
CREATE TABLE `Order Items` (
    id INT PRIMARY KEY, customer_id INT, status ENUM('open', 'shipped', 'lost') NOT NULL,
    `Total Price` DECIMAL(12, 2) COMMENT 'In euros, taxes included', `placedAt` DATETIME(1) NOT NULL, due TIME, rate DOUBLE,
    FOREIGN KEY (customer_id) REFERENCES customers (id)
);
INSERT INTO `Order Items` VALUES
    (1, 1, 'open', 19.90, '2024-01-31 08:30:00', '08:15', 0.1),
    (2, 1, 'shipped', 1234567890.10, '2024-02-29 00:00:00', '23:59:59', 0.25),
    (3, 2, 'lost', NULL, '2024-02-01 12:00:00', NULL, NULL),
    (4, 3, 'shipped', 0.10, '2023-12-31 23:59:59.5', '00:00', 1e-9);
CREATE VIEW shipped AS SELECT id, `Total Price` AS price, `placedAt` FROM `Order Items` WHERE status = 'shipped';
CREATE TABLE visits (day DATE NOT NULL, customer_id INT, pages INT)
    PARTITION BY RANGE (YEAR(day)) (PARTITION p2023 VALUES LESS THAN (2024), PARTITION p2024 VALUES LESS THAN (2025));
INSERT INTO visits VALUES ('2023-05-01', 1, 3), ('2024-01-31', 1, 10), ('2024-03-01', 2, 7), ('2024-03-02', 3, 1);
