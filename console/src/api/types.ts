// SPDX-License-Identifier: Apache-2.0

/** Documents of the API, version 1: docs/v1. Members that the console does not use are left out. */

export interface Inventory {
  total: number;
  reserved: number;
  min_unit: number;
  max_unit: number;
  step_size: number;
  allocation_ratio: number;
  capacity: number;
  used: number;
  free: number;
  largest: number;
}

export interface Provider {
  uuid: string;
  name: string;
  generation: number;
  root: string;
  parent: string | null;
  inventories: Record<string, Inventory>;
  traits: string[];
  aggregates: string[];
  updated_at: string | null;
}

export interface ProviderList {
  revision: string;
  providers: Provider[];
  next: string | null;
}

export interface Consumer {
  uuid: string;
  project: string;
  user: string;
  type: string;
  generation: number;
  created_at: string;
  updated_at: string | null;
  allocations: Record<string, { name: string; resources: Record<string, number> }>;
}

export interface ConsumerList {
  revision: string;
  consumers: Consumer[];
  next: string | null;
}

export interface ConsumerGroup {
  group: string | null;
  consumers: number;
  resources: Record<string, { used: number }>;
}

export interface ConsumerUsage {
  revision: string;
  groups: ConsumerGroup[];
  next: string | null;
}

export interface FitCount {
  instances: number;
  hosts: number;
  exact: boolean;
  complete: boolean;
  limiting_class: string | null;
  limits: Record<string, number>;
}

export interface Fit {
  revision: string;
  now: FitCount;
  empty: FitCount;
}

export interface Clause {
  number: number;
  reason: string;
  group: string | null;
  asked: string;
  alone: number;
  failed: number;
  left: number;
  sole: number;
  overlap: { clause: number; hosts: number } | null;
  resource_class?: string;
  requested?: number;
  best?: number;
}

export interface Obstacle {
  clause: number;
  reason: string;
  group: string | null;
  text: string;
}

export interface HostStory {
  uuid: string;
  name: string;
  obstacles: Obstacle[];
}

export interface Relaxation {
  text: string;
  query: string;
  hosts: number;
  candidates: number;
  is_exact: boolean;
}

export interface Move {
  consumer: string | null;
  project: string | null;
  resources: Record<string, number>;
  to: { provider: { uuid: string; name: string }; resources: Record<string, number> }[];
}

export interface Room {
  text: string;
  host: { uuid: string; name: string };
  moves: Move[];
}

export type Verdict = "found" | "not now" | "never" | "unknown";

export interface Explanation {
  revision: string;
  verdict: Verdict;
  summary: string;
  candidates: number;
  is_complete: boolean;
  hosts: number;
  hosts_with_candidates: number;
  clauses: Clause[];
  examples: HostStory[];
  more_hosts: number;
  notes: string[];
  relax: Relaxation[];
  relax_is_complete: boolean;
  never_together: { text: string }[];
  make_room: Room[];
  make_room_is_complete: boolean;
  provider?: HostStory;
  since_when?: { text: string; revision: string | null; exact: boolean };
}

export interface UnplacedRequest {
  at: string;
  request_id: string;
  global_request_id: string | null;
  user: string;
  revision: string;
  reason: string;
  verdict: Verdict;
  summary: string;
}

export interface UnplacedSearch {
  project: string;
  user: string;
  query: string;
  microversion: string;
  searches: number;
  first_at: string;
  last_at: string;
  revision: string;
  reason: string;
  verdict: Verdict;
  summary: string;
  requests: UnplacedRequest[];
}

export interface UnplacedList {
  revision: string;
  unplaced: UnplacedSearch[];
  next: string | null;
}

export interface Candidate {
  allocations: Record<string, { resources: Record<string, number> }>;
  mappings: Record<string, string[]>;
}

export interface ProviderSummary {
  resources: Record<string, { capacity: number; used: number }>;
  traits: string[];
  parent_provider_uuid: string | null;
  root_provider_uuid: string;
}

export interface Candidates {
  allocation_requests: Candidate[];
  provider_summaries: Record<string, ProviderSummary>;
}

/** Of the inventories in a change: what the provider reported, without capacity and usage. */
export type ReportedInventory = Pick<
  Inventory,
  "total" | "reserved" | "min_unit" | "max_unit" | "step_size" | "allocation_ratio"
>;

export interface ProviderState {
  name?: string;
  parent?: string | null;
  root?: string;
  generation?: number;
  inventories?: Record<string, ReportedInventory | null>;
  traits?: string[];
  aggregates?: string[];
}

export interface ConsumerState {
  project?: string;
  user?: string;
  type?: string;
  generation?: number;
  allocations?: Record<string, { name: string | null; resources: Record<string, number> }>;
}

export interface ChangedProvider {
  uuid: string;
  name: string | null;
  before: ProviderState | null;
  after: ProviderState | null;
}

export interface ChangedConsumer {
  uuid: string;
  before: ConsumerState | null;
  after: ConsumerState | null;
}

export interface Change {
  revision: string;
  time: string;
  request_id: string | null;
  global_request_id: string | null;
  user: string | null;
  project: string | null;
  operation: string;
  reload: boolean;
  providers: ChangedProvider[];
  consumers: ChangedConsumer[];
  names: { kind: string; before: string | null; after: string | null }[];
}

export interface ChangeList {
  revision: string;
  lowest: string;
  highest: string;
  changes: Change[];
  next: string | null;
  more: boolean;
}
