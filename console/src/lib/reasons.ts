// SPDX-License-Identifier: Apache-2.0

/** The reasons of explain (docs/v1/explain.md) in a few words. */
const WORDS: Readonly<Record<string, string>> = {
  root_required: "trait of the root",
  root_forbidden: "forbidden trait of the root",
  in_tree: "in this tree",
  required: "required trait",
  forbidden: "forbidden trait",
  member_of: "in the aggregate",
  not_member_of: "not in the aggregate",
  no_condition: "a group that asks nothing",
  no_inventory: "has the class",
  sharing: "has the class, or shares it",
  min_unit: "at least min_unit",
  max_unit: "at most max_unit at a time",
  step_size: "a multiple of step_size",
  capacity: "fits in the whole capacity",
  used: "fits in what is free",
  one_provider: "all of a group on one provider",
  isolate: "groups on different providers",
  groups_capacity: "room for all groups together",
  one_per_tree: "one provider of a tree",
  traits_together: "all required traits in the tree",
  same_subtree: "groups in one subtree",
  rules_together: "all rules at once",
};

export function reasonWords(reason: string): string {
  return WORDS[reason] ?? reason;
}

/** The same, as a reason why nothing was found. */
const FAILURES: Readonly<Record<string, string>> = {
  root_required: "the root lacks a trait",
  root_forbidden: "the root has a forbidden trait",
  in_tree: "not in the tree",
  required: "a required trait is missing",
  forbidden: "a forbidden trait is there",
  member_of: "outside the aggregates",
  not_member_of: "in a forbidden aggregate",
  no_condition: "a group asks nothing",
  no_inventory: "the class is missing",
  sharing: "the class is missing, and not shared",
  min_unit: "less than min_unit",
  max_unit: "more than max_unit at a time",
  step_size: "no multiple of step_size",
  capacity: "too small, even if empty",
  used: "too little is free",
  one_provider: "not all on one provider",
  isolate: "too few providers for isolated groups",
  groups_capacity: "no room for all groups together",
  one_per_tree: "not one provider of a tree",
  traits_together: "required traits not together",
  same_subtree: "not in one subtree",
  rules_together: "the rules exclude each other",
  unknown: "not found out in time",
  no_hosts: "there are no hosts",
};

export function failureWords(reason: string): string {
  return FAILURES[reason] ?? "";
}
