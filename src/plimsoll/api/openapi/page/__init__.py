# SPDX-License-Identifier: Apache-2.0

"""The reference page of both APIs: HTML that is built from the OpenAPI documents and loads nothing from elsewhere."""

from plimsoll.api.openapi.page.reference import ReferencePage, reference_page

__all__ = ["ReferencePage", "reference_page"]
