# SPDX-License-Identifier: Apache-2.0

"""The options of the plugin with which the service itself logs in to Keystone.

`[keystone_authtoken]auth_type` names the plugin, and the plugin defines its options. keystonemiddleware registers them
when a worker starts; commands that check a configuration register them here.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import entry_points

from keystoneauth1 import loading
from oslo_config import cfg

from plimsoll.config import loader

SECTION = "keystone_authtoken"


def register(conf: cfg.ConfigOpts) -> tuple[str, Sequence[cfg.Opt]]:
    """Register the plugin's options with `conf`, as the middleware does later. Return their section and the options.

    Raises ConfigError if the plugin is not installed.
    """
    section = conf[SECTION].auth_section or SECTION
    common = loading.get_auth_common_conf_options()
    conf.register_opts(common, group=section)
    name = conf[section].auth_type
    if not name:
        return section, common
    installed = {plugin.name for plugin in entry_points(group="keystoneauth1.plugin")}
    if name not in installed:
        reason = f"there is no plugin {name!r}, but these: {', '.join(sorted(installed))}"
        raise loader.option_error(conf, section, "auth_type", reason)
    own = loading.get_auth_plugin_conf_options(name)
    conf.register_opts(own, group=section)
    return section, [*common, *own]
