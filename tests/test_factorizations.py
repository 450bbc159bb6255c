"""Where PyTorch has complex numbers or another layout: eigenvalues of any matrix, inverses of tensors."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad

A = np.array([[2.0, 1.0, 0.5], [0.3, -1.0, 0.2], [0.1, 0.4, 4.0]])


def test_eigenvalues_that_are_real_are_torchs(torch):
    ours, theirs = (m.tensor(A, requires_grad=True) for m in (minigrad, torch))
    values, vectors = minigrad.linalg.eig(ours)
    assert repr(values.grad_fn)[:24] == "<LinalgEigBackward0 obje"
    expected = torch.linalg.eig(theirs)
    np.testing.assert_allclose(values.detach().numpy(), expected.eigenvalues.real.detach().numpy())
    np.testing.assert_allclose(vectors.detach().numpy(), expected.eigenvectors.real.detach().numpy())
    (values * minigrad.arange(3)).sum().backward()
    (expected.eigenvalues.real * torch.arange(3)).sum().backward()
    np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy())


def test_eigenvectors_have_the_right_derivatives():
    x = minigrad.tensor(A, requires_grad=True)
    assert minigrad.autograd.gradcheck(lambda x: tuple(minigrad.linalg.eig(x)), x)
    assert minigrad.autograd.gradgradcheck(lambda x: minigrad.linalg.eig(x).eigenvectors.abs(), x)
    assert minigrad.autograd.gradgradcheck(minigrad.linalg.eigvals, x)


def test_eigenvalues_of_a_batch():
    many = minigrad.tensor(np.stack([A, 2 * A]))
    np.testing.assert_allclose(
        minigrad.func.vmap(minigrad.linalg.eigvals)(many)[1], 2 * minigrad.linalg.eigvals(many[0])
    )


def test_a_rotation_has_no_real_eigenvalues():
    with pytest.raises(RuntimeError, match="no complex numbers"):
        minigrad.linalg.eigvals(minigrad.tensor([[0.0, -1.0], [1.0, 0.0]]))


def test_inverses_of_tensors_are_torchs(torch):
    array = np.random.default_rng(0).standard_normal((4, 2, 2, 4))
    results = []
    for module in (minigrad, torch):
        x = module.tensor(array, requires_grad=True)
        inverse = module.linalg.tensorinv(x)
        (inverse * module.linalg.tensorinv(x, ind=2).sin()).sum().backward()
        results.append((inverse.detach().numpy(), x.grad.numpy()))
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


OLDER = {
    "lu": lambda m, x, y: m.lu(x)[0],
    "lu, with information": lambda m, x, y: x.lu(get_infos=True)[0],
    "lu_solve": lambda m, x, y: m.lu_solve(y, *m.linalg.lu_factor(x)),
    "cholesky": lambda m, x, y: m.cholesky(x @ x.T),
    "qr": lambda m, x, y: m.qr(x).R * m.qr(x).Q,
    "qr of all": lambda m, x, y: y.qr(some=False).R,
}


@pytest.mark.filterwarnings("ignore:torch")
@pytest.mark.parametrize("name", OLDER)
def test_older_forms_give_what_torchs_do(torch, name):
    results = []
    for module in (minigrad, torch):
        x, y = (
            module.tensor(A, requires_grad=True),
            module.tensor(A[:, :2], requires_grad=name != "qr of all"),
        )
        out = OLDER[name](module, x, y)
        (out * out).sum().backward() if out.requires_grad else None
        results.append(
            (
                out.detach().numpy(),
                out.grad_fn and out.grad_fn.name(),
                x.grad if x.grad is None else x.grad.numpy(),
            )
        )
    (ours, node, gradient), (theirs, expected_node, expected_gradient) = results
    assert node == expected_node
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    if expected_gradient is not None:
        np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-9, atol=1e-12)


BAD = {
    "no row to invert": lambda m: m.linalg.tensorinv(m.ones(2, 2), ind=0),
    "not square as a matrix": lambda m: m.linalg.tensorinv(m.ones(2, 3), ind=1),
    "too few equations": lambda m: m.linalg.tensorsolve(m.ones(2, 3), m.ones(2)),
    "no powers": lambda m: m.linalg.vander(m.ones(3), N=1),
    "a matrix of powers of a matrix": lambda m: m.vander(m.ones(2, 2)),
    "combinations of a matrix": lambda m: m.combinations(m.ones(2, 2)),
    "fewer than no elements": lambda m: m.combinations(m.ones(2), -1),
    "LU without pivoting": lambda m: m.linalg.lu(m.eye(2), pivot=False),
    "LU of a vector": lambda m: m.linalg.lu(m.ones(2)),
    "eigenvalues of a rectangle": lambda m: m.linalg.eig(m.ones(2, 3)),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_calls_are_refused_as_in_torch(torch, name):
    said = []
    for module in (minigrad, torch):
        with pytest.raises(RuntimeError) as caught:
            BAD[name](module)
        said.append(str(caught.value).splitlines()[0])
    assert said[0] == said[1]
