import pytest

torch = pytest.importorskip("torch", reason="needs the training extra")

from training.embedded.parser.exchange import JOINING, Exchange, trainable  # noqa: E402

pytestmark = pytest.mark.training


def model_of(value):
    model = torch.nn.Linear(2, 1, bias=False)
    with torch.no_grad():
        model.weight.fill_(value)
    return model


def test_gradients_are_averaged_by_their_numbers_of_examples(tmp_path):
    trainer, companion = model_of(1.0), model_of(9.0)
    ours = Exchange(tmp_path, trainable(trainer))
    theirs = Exchange(tmp_path, trainable(companion))
    theirs.state = JOINING
    ours.hand_out(trainable(trainer))
    theirs.wait_for_weights(trainable(companion))
    assert torch.equal(companion.weight, trainer.weight)

    companion.weight.grad = torch.full_like(companion.weight, 4.0)
    theirs.offer_gradients(trainable(companion), examples=30)
    trainer.weight.grad = torch.zeros_like(trainer.weight)
    assert ours.add_gradients(trainable(trainer), examples=10) == 30
    assert torch.allclose(trainer.weight.grad, torch.full_like(trainer.weight, 3.0))


def test_without_a_companion_nothing_changes(tmp_path):
    trainer = model_of(1.0)
    exchange = Exchange(tmp_path, trainable(trainer))
    trainer.weight.grad = torch.ones_like(trainer.weight)
    assert exchange.add_gradients(trainable(trainer), examples=10) == 0
    exchange.hand_out(trainable(trainer))
    assert torch.equal(trainer.weight.grad, torch.ones_like(trainer.weight))


def test_frozen_weights_are_not_exchanged():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    model[0].requires_grad_(requires_grad=False)
    assert [value.shape for value in trainable(model)] == [(1, 2), (1,)]
