# SPDX-License-Identifier: Apache-2.0

"""Resource classes."""

from __future__ import annotations

from plimsoll.service import classes
from plimsoll.wire.answers import Answer, document, latest
from plimsoll.wire.bodies.classes import NAMED
from plimsoll.wire.bodies.reading import checked
from plimsoll.wire.call import Call, accepted
from plimsoll.wire.problems import Problem
from plimsoll.wire.views import names as views


def find(call: Call) -> Answer:
    terms = classes.list_all(call.placement)
    return document(views.resource_classes(terms, call.prefix), latest(term.modified_at for term in terms))


def show(call: Call) -> Answer:
    term = accepted(classes.get(call.placement, call.params["name"]))
    return document(views.resource_class(term, call.prefix), latest((term.modified_at,)))


def create(call: Call) -> Answer:
    name = call.read(NAMED)["name"]
    term = accepted(classes.create(call.placement, call.actor, name))
    return Answer(201, location=views.class_path(term.name))


def rename(call: Call) -> Answer:
    new_name = call.read(NAMED)["name"]
    term = accepted(classes.rename(call.placement, call.actor, call.params["name"], new_name))
    return document(views.resource_class(term, call.prefix))


def ensure(call: Call) -> Answer:
    """The name is checked as if it had come in a body: clients know the words that this gives."""
    name = call.params["name"]
    content = checked(f'{{"name": "{name}"}}'.encode(), NAMED.schemas.at(call.version))
    if content["name"] != name:
        raise Problem(400, f"JSON does not validate: {name} is not the name of a resource class.")
    term, is_new = classes.ensure(call.placement, call.actor, name)
    return Answer(201 if is_new else 204, location=views.class_path(term.name))


def delete(call: Call) -> Answer:
    accepted(classes.delete(call.placement, call.actor, call.params["name"]))
    return Answer(204)
