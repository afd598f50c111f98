"""`sqlwright lab finetune`: train the models that recipes ask, on data of one's own."""
