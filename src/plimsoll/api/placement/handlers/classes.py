# SPDX-License-Identifier: Apache-2.0

"""Handlers of /resource_classes: list, show, create, rename, delete."""

from __future__ import annotations

from plimsoll.api.placement.bodies.body import parse_body
from plimsoll.api.placement.bodies.classes import CLASS_NAME
from plimsoll.api.placement.request import ApiRequest, accepted
from plimsoll.api.placement.views import names as views
from plimsoll.http.problems import Problem
from plimsoll.http.response import Response, json_response, latest
from plimsoll.service import classes


def find(call: ApiRequest) -> Response:
    entries = classes.list_all(call.placement)
    return json_response(
        views.resource_classes(entries, call.prefix), latest(entry.modified_at for entry in entries)
    )


def show(call: ApiRequest) -> Response:
    entry = accepted(classes.get(call.placement, call.params["name"]))
    return json_response(views.resource_class(entry, call.prefix), latest((entry.modified_at,)))


def create(call: ApiRequest) -> Response:
    name = call.body()["name"]
    entry = accepted(classes.create(call.placement, call.actor, name))
    return Response(201, location=views.class_path(entry.name))


def rename(call: ApiRequest) -> Response:
    new_name = call.body()["name"]
    entry = accepted(classes.rename(call.placement, call.actor, call.params["name"], new_name))
    return json_response(views.resource_class(entry, call.prefix))


def ensure(call: ApiRequest) -> Response:
    """Create the class if it is missing. The name is validated as a body, for the error text of the reference."""
    name = call.params["name"]
    content = parse_body(f'{{"name": "{name}"}}'.encode(), CLASS_NAME.schemas.at(call.version))
    if content["name"] != name:
        raise Problem(400, f"JSON does not validate: {name} is not the name of a resource class.")
    entry, is_new = accepted(classes.ensure(call.placement, call.actor, name))
    return Response(201 if is_new else 204, location=views.class_path(entry.name))


def delete(call: ApiRequest) -> Response:
    accepted(classes.delete(call.placement, call.actor, call.params["name"]))
    return Response(204)
