# SPDX-License-Identifier: Apache-2.0

"""`plimsoll policy`: list the rules in force, check what a caller may do, find mistakes in the policy files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

import click
from oslo_config import cfg
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from plimsoll.access import Caller, Policy, PolicyError, policy_files, policy_review
from plimsoll.access.policy_rules import list_rules
from plimsoll.access.policy_sample import sample as sample_text
from plimsoll.cli.settings import CheckImpossible, Program, configured, silence_oslo_policy

FINE, DENIED, BROKEN = 0, 1, CheckImpossible.exit_code


@click.group()
def policy() -> None:
    """Show and check the policy: which callers may do what.

    \b
    Example:
      plimsoll policy check placement:allocations:update --roles member
    """


@policy.command("list", short_help="Show the rules in force.")
@click.option("--json", "in_json", is_flag=True, help="Print JSON instead of a table.")
@configured
def list_(program: Program, in_json: bool) -> None:
    """Show every rule with the check in force, the place where it is defined, and the operations that it guards.

    A check is the default, or defined in a policy file, by the rule's name or by a deprecated name.

    \b
    Example:
      plimsoll policy list --json
    """
    rules = policy_review.rules_in_force(*_load(program.load()))
    if in_json:
        click.echo(json.dumps([asdict(rule) for rule in rules], indent=2))
        return
    table = _table("rule", "check", "from", "guards")
    for rule in rules:
        origin = rule.origin if rule.place is None else f"{rule.origin} {rule.place}"
        table.add_row(*map(escape, (rule.name, rule.check or "@", origin, "\n".join(rule.operations))))
    _print(table)


@policy.command(short_help="Print a sample policy file.")
@configured
def sample(program: Program) -> None:
    """Print a policy file with every rule and its default, all of it commented out.

    \b
    Example:
      plimsoll policy sample > /etc/placement/policy.yaml
    """
    click.echo(sample_text(), nl=False)


@policy.command(short_help="Check what a caller may do, and find mistakes.")
@click.argument("rule", required=False)
@click.option("--roles", metavar="A,B", help="The roles of the caller, separated by commas.")
@click.option("--user", metavar="ID", help="The user.")
@click.option("--project", metavar="ID", help="The project that the caller's token is for.")
@click.option("--domain", metavar="ID", help="The domain that the token is for, instead of a project.")
@click.option(
    "--system-scope", metavar="SCOPE", help="`all` if the token is for the system, instead of a project."
)
@click.option(
    "--target-project",
    metavar="ID",
    help="The project that the request is about; by default the caller's own.",
)
@configured
def check(
    program: Program,
    rule: str | None,
    roles: str | None,
    user: str | None,
    project: str | None,
    domain: str | None,
    system_scope: str | None,
    target_project: str | None,
) -> int:
    """Find mistakes in the policy files, and show what a caller may do.

    With RULE: exits 0 if the rule allows the caller, 1 if not, 2 if the policy is broken or there is no such rule.

    Without RULE: prints all mistakes in the files and, if a caller is described, a table of all rules. Exits 0 if
    nothing is wrong, 1 on a warning, 2 if something is broken.

    \b
    Examples:
      plimsoll policy check
      plimsoll policy check --roles reader --project engines
      plimsoll policy check placement:usages --roles reader --project engines --target-project looms
    """
    conf = program.load()
    loaded, written = _load(conf)
    findings = policy_review.review(conf, loaded, written)
    faults = [finding for finding in findings if finding.severity == "fault"]
    _report(findings if rule is None else faults)
    caller = Caller(
        user_id=user,
        project_id=project,
        roles=tuple(role.strip() for role in roles.split(",")) if roles else (),
        system_scope=system_scope,
        domain_id=domain,
    )
    target = {"project_id": target_project, "user_id": user} if target_project else None
    rules = {each.name: each for each in policy_review.rules_in_force(loaded, written)}
    if rule is not None:
        if rule not in {each.name for each in list_rules()}:
            raise CheckImpossible(
                f"There is no rule {rule}.{policy_review.suggest_rule(rule)} `plimsoll policy list` shows all."
            )
        allowed = loaded.allows(rule, caller, target)
        click.echo(f"{'allowed' if allowed else 'denied'}: {rule} is for {rules[rule].check or '@'}")
        return FINE if allowed else DENIED
    if caller != Caller():
        table = _table("rule", "", "guards")
        for known in list_rules():
            verdict = "[green]allowed[/]" if loaded.allows(known.name, caller, target) else "[red]denied[/]"
            table.add_row(escape(known.name), verdict, escape("\n".join(rules[known.name].operations)))
        _print(table)
    elif not findings:
        files = ", ".join(map(str, policy_files.policy_files(conf)))
        none = "There is no policy file: the defaults are in force."
        click.echo(f"Nothing is wrong with {files}." if files else none)
    return BROKEN if faults else DENIED if findings else FINE


def _load(conf: cfg.ConfigOpts) -> tuple[Policy, list[policy_files.Override]]:
    """Return the policy, and the rules of its files."""
    try:
        with silence_oslo_policy():
            return Policy(conf), policy_files.read_all(conf)
    except (PolicyError, policy_files.BrokenFile) as error:  # BrokenFile: changed since the policy was loaded
        raise CheckImpossible(str(error)) from error


def _report(findings: Sequence[policy_review.PolicyFinding]) -> None:
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for finding in findings:
        colour = "red" if finding.severity == "fault" else "yellow"
        text = escape(f"{finding.place}: {finding.message}")
        console.print(f"[bold {colour}]{finding.severity:7}[/]  {text}")


def _table(*headers: str) -> Table:
    table = Table(*headers, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in table.columns:
        column.overflow = "fold"
    return table


def _print(table: Table) -> None:
    # Without a terminal, as in a pipe, rows must not be wrapped.
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=250)
    console.print(table)
