// SPDX-License-Identifier: Apache-2.0

/** What a ratio has to be. */
export interface Mark {
  readonly bench: Bench;
  readonly ratio: string;
  readonly bound: 'at least' | 'at most' | 'within';
  readonly value: number;
  /** Of `within`: how far from `value`. */
  readonly tolerance?: number;
  /** `value` is so much more than this figure of the results. */
  readonly beyond?: string;
  /**
   * In words, for who does not know the ratio's name; `{idle}` is what the results were measured
   * with.
   */
  readonly means: string;
}

/** In the order of the page. */
export const BENCHES = [
  'drain',
  'counters',
  'csr',
  'pinned',
  'latency',
  'memory',
  'idle',
  'start',
  'replicas',
  'fairness',
  'flow-control',
  'library',
  'acme',
  'ledger',
  'services',
  'injection',
  'check',
  'console',
  'issue',
] as const;
export type Bench = (typeof BENCHES)[number];

type Rest = Omit<Mark, 'bench' | 'ratio' | 'bound' | 'value' | 'means'>;

function mark(
  name: `${Bench}.${string}`,
  [bound, value]: readonly [Mark['bound'], number],
  means: string,
  rest: Rest = {},
): Mark {
  const [bench, ratio = ''] = name.split('.');
  return { bench: bench as Bench, ratio, bound, value, means, ...rest };
}

export const MARKS: readonly Mark[] = [
  mark('drain.drain_vs_limit', ['at least', 0.85], 'certificates/s, of a bare status writer’s'),
  mark('drain.drain_vs_upstream_unlimited', ['at least', 2.5], 'upstream’s signer, limiter off'),
  mark('drain.drain_vs_upstream_default', ['at least', 50], 'upstream’s signer as shipped'),
  mark('drain.mutating_calls_per_certificate', ['within', 1], 'writes a certificate', {
    tolerance: 0.002,
  }),
  mark('drain.calls_per_certificate', ['at most', 1.02], 'calls of any kind a certificate'),
  mark(
    'counters.drain_vs_warm',
    ['at most', 1.4],
    'own CPU a certificate, of the same warm and alone',
  ),
  mark('counters.longest_pause_ms', ['at most', 20], 'longest pause of the event loop in a drain'),
  mark('csr.csr_vs_kcm_unlimited', ['at least', 1.1], 'kube-controller-manager, limits raised'),
  mark('csr.csr_vs_kcm_default', ['at least', 10], 'kube-controller-manager as shipped'),
  mark(
    'pinned.core_at_limit',
    ['at most', 0.5],
    'own core at the writer’s rate, API server and etcd on another',
  ),
  mark('pinned.core_at_limit_with_ledger', ['at most', 0.5], 'the same, each recorded'),
  mark('pinned.core_at_limit_with_postgres', ['at most', 0.5], 'the same over PostgreSQL'),
  mark(
    'pinned.core_at_kcm',
    ['at most', 0.5],
    'own core at kube-controller-manager’s rate of CertificateSigningRequests',
  ),
  mark(
    'latency.p99_vs_echo',
    ['at most', 2],
    '99th percentile, of a bare echo’s, at {share} % of the writer’s rate',
  ),
  mark('latency.p99_ms', ['at most', 500], 'the same in milliseconds'),
  mark(
    'latency.p99_vs_echo_when_calm',
    ['at most', 2],
    '99th percentile, of a bare echo’s, at {calm} % of the writer’s rate',
  ),
  mark('latency.p99_ms_when_calm', ['at most', 100], 'the same in milliseconds'),
  mark('latency.p99_vs_echo_when_light', ['at most', 2], 'of the echo’s, at {light} %'),
  mark(
    'latency.p99_vs_echo_when_cold',
    ['at most', 2],
    'of the echo’s, at {calm} %, of processes that have just started',
  ),
  mark('latency.quiet_vs_busy', ['at most', 1.5], 'first request after {idle} idle seconds'),
  mark('memory.rss_per_finished_vs_informer', ['at most', 0.125], 'memory a finished request'),
  mark('memory.rss_drift', ['at most', 0.02], 'growth over {issuances} certificates'),
  mark('memory.foreign_events', ['at most', 0], 'events of others’ {foreign} requests'),
  mark('memory.foreign_throughput', ['at least', 0.98], 'certificates/s beside them'),
  mark('idle.own_mib', ['at most', 70], 'MiB of an idle component that no other process shares'),
  mark('idle.resident_mib', ['at most', 120], 'the same with what it shares'),
  mark('idle.ready_cpu_ms', ['at most', 500], 'CPU time of a component until it is ready, in ms'),
  mark(
    'idle.installation_mib',
    ['at most', 1024],
    'MiB of a default installation, {replicas} replicas of six components',
  ),
  mark(
    'start.first_signature_vs_list',
    ['at most', 1.2],
    'start to first certificate, {objects} finished',
  ),
  mark('replicas.two_vs_one', ['at least', 1], 'two replicas on the same two cores'),
  mark('replicas.takeover_s', ['at most', 1], 'kill −9 to the next certificate of its share', {
    beyond: 'leaseSeconds',
  }),
  mark(
    'fairness.p99_beside_hostile',
    ['at most', 2],
    '99th percentile until our write, of a quiet tenant beside a hostile one, of its own alone',
  ),
  mark(
    'fairness.victim_events',
    ['at least', 1],
    'its Events that are written, of all that are due',
  ),
  mark(
    'flow-control.p90_beside_wild',
    ['at most', 2],
    '90th percentile beside a controller that takes the API server’s seats, of alone',
  ),
  mark('library.library_vs_builtin', ['at least', 0.95], 'certificates/s by the library'),
  mark('acme.acme_orders_vs_cert_manager', ['at least', 1.5], 'ACME orders/s, of cert-manager’s'),
  mark('acme.acme_calls_per_order_vs_cert_manager', ['at most', 1], 'calls of the ACME server'),
  mark('acme.api_writes_per_order_vs_cert_manager', ['at most', 0.5], 'writes of the API server'),
  mark('ledger.drain_with_ledger_vs_without', ['at least', 0.85], 'certificates/s, each recorded'),
  mark('ledger.drain_with_postgres_vs_without', ['at least', 0.75], 'the same over PostgreSQL'),
  mark(
    'ledger.search_p95_ms',
    ['at most', 50],
    '95th percentile of the slowest search, {records} records',
  ),
  mark(
    'ledger.verified_per_second',
    ['at least', 50_000],
    'records that `verify` checks, a second',
  ),
  mark(
    'ledger.full_ledger_own_mib',
    ['at most', 100],
    'MiB of its own of an idle `ledger` with {records} records',
  ),
  mark(
    'ledger.full_ledger_peak_mib',
    ['at most', 320],
    'MiB of the same at most, while it records, is searched and is verified',
  ),
  mark('services.services_vs_without', ['at least', 0.6], 'certificates/s, each with proven names'),
  mark('check.check_s', ['at most', 10], '`countersign check`, {signers} signers and {pods} pods'),
  mark(
    'console.console_first_page_ms',
    ['at most', 1_000],
    'first page of the console in ms, {signers} signers and {pods} pods',
  ),
  mark(
    'console.console_interaction_p95_ms',
    ['at most', 100],
    'key to next frame in ms, 95th percentile',
  ),
  mark('console.console_resident_mib', ['at most', 200], 'MiB of the process of the console'),
  mark('console.console_tab_mib', ['at most', 100], 'MiB of heap in its tab'),
  mark('issue.issue_vs_pkijs', ['at least', 3], 'leaves/s/core, pkijs straight'),
  mark('issue.issue_linted_vs_pkijs', ['at least', 2], 'the same, linted'),
  mark('issue.issue_vs_go', ['at least', 1.5], 'of Go’s crypto/x509'),
  mark('issue.issue_whole_vs_go_whole', ['at least', 0.8], 'the same, request and leaf verified'),
];
