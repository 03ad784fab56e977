# SPDX-License-Identifier: Apache-2.0

"""The options of the plugin by which the service itself logs in at Keystone.

`[keystone_authtoken]auth_type` names the plugin, and only the plugin knows which options stand beside that. The
middleware asks it when a worker starts; who wants to know them earlier asks here.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import entry_points

from keystoneauth1 import loading
from oslo_config import cfg

from plimsoll.config import loader

SECTION = "keystone_authtoken"


def register(conf: cfg.ConfigOpts) -> tuple[str, Sequence[cfg.Opt]]:
    """Make them known to `conf`, as the middleware does later, and say in which section they are and which.

    A plugin that is not there is a ConfigError.
    """
    section = conf[SECTION].auth_section or SECTION
    common = loading.get_auth_common_conf_options()
    conf.register_opts(common, group=section)
    name = conf[section].auth_type
    if not name:
        return section, common
    there = {plugin.name for plugin in entry_points(group="keystoneauth1.plugin")}
    if name not in there:
        raise loader.wrong(
            conf, section, "auth_type", f"there is no plugin {name!r}, but these: {', '.join(sorted(there))}"
        )
    own = loading.get_auth_plugin_conf_options(name)
    conf.register_opts(own, group=section)
    return section, [*common, *own]
