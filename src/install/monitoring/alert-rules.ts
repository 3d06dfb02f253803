// SPDX-License-Identifier: Apache-2.0
import type { Manifest } from '../roles.ts';
import { counterIncrease } from './counter-increase.ts';

/** An alert: its summary, its expression, and how long that must hold. */
interface Alert {
  readonly name: string;
  readonly expr: string;
  readonly for: string;
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
}

const ALERTS: readonly Alert[] = [
  {
    name: 'CountersignCaExpiresSoon',
    // `authority` replaces a managed CA after four fifths of its life, so a CA that gets here needs
    // an administrator.
    expr: `min by (namespace, component, signer) (${ofLeader('countersign_ca_full_leaves_until_timestamp_seconds')}) - time() < 0`,
    for: '1h',
    severity: 'critical',
    summary:
      'Leaves of {{ $labels.signer }} expire with their CA, before their full lifetime. Read the conditions of its ClusterSigner.',
  },
  {
    name: 'CountersignCertificateRefused',
    expr: `max by (namespace, component, signer) (${ofLeader('countersign_ca_certificate_refused')}) > 0`,
    for: '5m',
    severity: 'warning',
    summary:
      'The upstream CA of {{ $labels.signer }} gave no usable certificate. Read the condition AwaitingCertificate of its ClusterSigner.',
  },
  {
    name: 'CountersignCertificateLate',
    // A week for the people who have the upstream key.
    expr: `min by (namespace, component, signer) (${ofLeader('countersign_ca_certificate_install_by_timestamp_seconds')}) - time() < 604800`,
    for: '5m',
    severity: 'critical',
    summary:
      'The CA of {{ $labels.signer }} awaits a certificate of its upstream CA. Leaves get shorter in {{ $value | humanizeDuration }}.',
  },
  {
    name: 'CountersignKeyHolderAway',
    // The series exists only beside a key holder. One that restarts answers within seconds.
    expr: 'min by (namespace, component) (countersign_key_holder_up) == 0',
    for: '2m',
    severity: 'critical',
    summary:
      'The key holder of {{ $labels.component }} does not answer: requests of its signers wait. Read the log of the sidecar key-holder.',
  },
  {
    name: 'CountersignKeyHolderKeyUnusable',
    expr: 'min by (namespace, component, signer) (countersign_key_holder_key_usable) == 0',
    for: '5m',
    severity: 'critical',
    summary:
      'The key holder of {{ $labels.component }} cannot sign for {{ $labels.signer }}. Read the condition Served of its ClusterSigner.',
  },
  {
    name: 'CountersignKeyHolderRefuses',
    expr: `sum by (namespace, component, reason) (${counterIncrease('countersign_key_holder_refusals_total', '1h')}) > 0`,
    for: '0m',
    severity: 'critical',
    summary:
      'The key holder of {{ $labels.component }} refused to sign, by its rule {{ $labels.reason }}: its limits and a signer do not agree, or the component is compromised.',
  },
  {
    name: 'CountersignAnchorExpiresSoon',
    expr: `min by (namespace, component, signer) (${ofLeader('countersign_trust_bundle_not_after_timestamp_seconds')}) - time() < 86400`,
    for: '1h',
    severity: 'warning',
    summary: 'A trust anchor in the bundle of {{ $labels.signer }} expires within a day.',
  },
  {
    name: 'CountersignCrlFails',
    // `authority` signs a CRL after half of its validity, so the same time remains to act.
    expr: `max by (namespace, component, signer) (${ofLeader('countersign_crl_failing')}) > 0`,
    for: '10m',
    severity: 'critical',
    summary:
      'A CRL of {{ $labels.signer }} cannot be signed or written. Read the Events of its ClusterSigner.',
  },
  {
    name: 'CountersignRequestsWait',
    // The gauge counts pending requests. A healthy component answers in seconds.
    expr: 'min_over_time(countersign_request_pending[10m]) > 0',
    for: '5m',
    severity: 'warning',
    summary:
      'Requests of {{ $labels.signer }} wait for {{ $labels.component }}. Read the Events of a request that waits.',
  },
  {
    name: 'CountersignExternalSignerNotReady',
    // A short outage of the CA ends by itself.
    expr: `min by (namespace, signer) (${ofLeader('countersign_external_signer_ready')}) == 0`,
    for: '10m',
    severity: 'critical',
    summary:
      'The CA of {{ $labels.signer }} issues nothing, and requests wait. Read the condition Ready of its ExternalClusterSigner.',
  },
  {
    name: 'CountersignExternalAnswersRefused',
    expr: `sum by (namespace, signer) (${counterIncrease('countersign_external_refused_answers_total', '1h')}) > 3`,
    for: '0m',
    severity: 'warning',
    summary:
      'The CA of {{ $labels.signer }} issued {{ $value | humanize }} certificates in an hour that external-signer refused. You may have to pay for them. Read the Events of its requests.',
  },
  {
    name: 'CountersignExternalOrdersBesideCertificates',
    expr: [
      `sum by (namespace, signer) (${counterIncrease('countersign_external_orders_total{outcome=~"issued|unusable|lost"}', '1h')})`,
      `- sum by (namespace, signer) (${counterIncrease('countersign_requests_total{component="external-signer",outcome="issued"}', '1h')})`,
      '> 20',
    ].join('\n'),
    for: '10m',
    severity: 'warning',
    summary:
      'The CA of {{ $labels.signer }} issued {{ $value | humanize }} certificates more in an hour than external-signer delivered. Compare the outcomes of countersign_external_orders_total.',
  },
  {
    name: 'CountersignRenewalOverdue',
    expr: `max by (namespace, component) (${ofLeader('countersign_acme_renewals{state="overdue"}')}) > 0`,
    for: '1h',
    severity: 'warning',
    summary:
      'A certificate of an ACME signer should have been renewed by now. kubectl get orders.acme.countersign.dev -A -o wide shows it.',
  },
  {
    name: 'CountersignRenewalRefused',
    expr: 'min by (signer, owner_namespace, owner) (countersign_renewal_refused_expiry_timestamp_seconds) - time() > 0',
    for: '0m',
    severity: 'critical',
    summary:
      'A pod of {{ $labels.owner_namespace }}/{{ $labels.owner }} loses its certificate of {{ $labels.signer }} in {{ $value | humanizeDuration }}: its renewal was denied or failed.',
  },
  {
    name: 'CountersignMissingPermissions',
    expr: 'max by (namespace, component) (countersign_missing_permissions) > 0',
    for: '5m',
    severity: 'critical',
    summary:
      '{{ $labels.component }} lacks permissions that it needs. /readyz names them; apply the roles again.',
  },
  {
    name: 'CountersignAdmissionPolicyDiffers',
    expr: 'max by (namespace, component, policy) (countersign_admission_policy_differences) > 0',
    for: '5m',
    severity: 'critical',
    summary:
      'The admission policy {{ $labels.policy }} guards less than it should. Apply it again.',
  },
  {
    name: 'CountersignNoLeader',
    expr: 'sum by (namespace, component) (countersign_leader) != 1',
    for: '5m',
    severity: 'critical',
    summary: '{{ $labels.component }} has no leader, or two.',
  },
  {
    name: 'CountersignUnexpectedAnchor',
    expr: `${counterIncrease('countersign_trust_bundle_unexpected_anchors_total', '1h')} > 0`,
    for: '0m',
    severity: 'critical',
    summary:
      'Another writer added a foreign anchor to the bundle of {{ $labels.signer }}. It was removed.',
  },
  {
    name: 'CountersignRestartOverdue',
    // A third of the previous certificate's remaining life has passed, or a restart was taken back.
    expr: `max by (namespace, state) (${ofLeader('countersign_refresh_workloads{state=~"overdue|reverted"}')}) > 0`,
    for: '10m',
    severity: 'warning',
    summary:
      '{{ $value }} workloads keep a certificate until it expires ({{ $labels.state }}). countersign check names them and the obstacle, such as a PodDisruptionBudget or a field manager.',
  },
  {
    name: 'CountersignTrustTargetsLagging',
    expr: `max by (namespace, signer) (${ofLeader('countersign_trust_targets_lagging')}) > 0`,
    // The default time for which a rotation waits for them.
    for: '30m',
    severity: 'warning',
    summary:
      'Trust targets of {{ $labels.signer }} cannot be written: programs that read them will reject leaves of the next CA.',
  },
  {
    name: 'CountersignFederationStale',
    // The longest interval between two fetches is an hour. 0 means that there never was a bundle.
    expr: `time() - (max by (namespace, trust_domain) (${ofLeader('countersign_federation_confirmed_timestamp_seconds')}) > 0) > 10800`,
    for: '10m',
    severity: 'warning',
    summary:
      'The bundle endpoint of {{ $labels.trust_domain }} has returned no valid bundle for three hours. After --keep, its SVIDs are no longer trusted.',
  },
  {
    name: 'CountersignFederatedBundleMissing',
    expr: `max by (namespace, trust_domain) (${ofLeader('countersign_federation_anchors')}) == 0`,
    for: '5m',
    severity: 'critical',
    summary:
      'There is no bundle of the foreign trust domain {{ $labels.trust_domain }}: this cluster does not trust its SVIDs. /readyz of federation shows the cause.',
  },
  {
    name: 'CountersignUnrecordedCertificate',
    expr: `max by (namespace) (${ofLeader('countersign_ledger_unrecorded_certificates')}) > 0`,
    for: '0m',
    severity: 'critical',
    summary:
      'A certificate of this installation has no record: the key of its CA may be stolen. ConfigMap countersign-ledger-findings names it.',
  },
  {
    name: 'CountersignLedgerAway',
    expr: 'max by (namespace, component) (countersign_ledger_failing) > 0',
    for: '5m',
    severity: 'critical',
    summary:
      'The ledger does not accept the records of {{ $labels.component }}: it issues without records, or not at all.',
  },
  {
    name: 'CountersignCheckpointTooOld',
    // The series is absent if the ledger has signed none since it started.
    expr: 'sum by (namespace) (increase(countersign_ledger_appended_total[5m])) > 0 unless on (namespace) time() - max by (namespace) (countersign_ledger_checkpoint_timestamp_seconds) <= 300',
    for: '5m',
    severity: 'warning',
    summary:
      'The log of the ledger grows without signed checkpoints. /readyz of ledger shows the cause.',
  },
  {
    name: 'CountersignLedgerApiUnavailable',
    // Metric of kube-apiserver, absent if the API is not aggregated.
    expr: 'max by (name) (aggregator_unavailable_apiservice{name="v1alpha1.ledger.countersign.dev"}) > 0',
    for: '2m',
    severity: 'critical',
    summary:
      'The API server cannot reach the ledger, whose API is aggregated (ledger.aggregatedApi): until it can, it deletes no namespace of the cluster.',
  },
  {
    name: 'CountersignLedgerDoesNotGrow',
    // The series of failing exists only while components record.
    expr: 'sum by (namespace) (increase(countersign_requests_total{outcome="issued"}[15m])) > 0 and on (namespace) max by (namespace) (countersign_ledger_failing) >= 0 unless on (namespace) sum by (namespace) (increase(countersign_ledger_appended_total[15m])) > 0',
    for: '15m',
    severity: 'critical',
    summary: 'Certificates are issued, and the ledger keeps no record of them.',
  },
  {
    name: 'CountersignWitnessSilent',
    expr: `time() - (max by (namespace, destination) (${ofLeader('countersign_ledger_checkpoint_unpublished_since_timestamp_seconds')}) > 0) > 900`,
    for: '5m',
    severity: 'warning',
    summary:
      '{{ $labels.destination }} has not accepted a checkpoint for a quarter of an hour: later entries can be rewritten unnoticed.',
  },
  {
    name: 'CountersignLedgerContradicted',
    expr: `max by (namespace, destination) (${ofLeader('countersign_ledger_checkpoint_contradicted')}) > 0`,
    for: '0m',
    severity: 'critical',
    summary:
      '{{ $labels.destination }} has seen another history of the ledger: an older copy was restored, or the log was rewritten.',
  },
  {
    name: 'CountersignNotificationsFailing',
    expr: `time() - (max by (namespace, target) (${ofLeader('countersign_notifications_failing_since_timestamp_seconds')}) > 0) > 900`,
    for: '5m',
    severity: 'warning',
    summary:
      'Target {{ $labels.target }} has accepted no notification for a quarter of an hour. /readyz of notifier shows the cause.',
  },
  {
    name: 'CountersignNotificationsDropped',
    expr: `sum by (namespace, target, reason) (${counterIncrease('countersign_notifications_dropped_total', '1h')}) > 0`,
    for: '0m',
    severity: 'warning',
    summary:
      'Target {{ $labels.target }} did not receive an event ({{ $labels.reason }}), which notifier does not send again.',
  },
  {
    name: 'CountersignServingCertificateExpiresSoon',
    // 0 means that the port has no certificate, which /readyz reports.
    expr: '(countersign_serving_certificate_not_after_timestamp_seconds > 0) - time() < 86400',
    for: '1h',
    severity: 'warning',
    summary: 'The certificate of the HTTPS port of {{ $labels.component }} expires within a day.',
  },
  {
    name: 'CountersignPodRequestsRefused',
    expr: `sum by (signer, reason) (${counterIncrease('countersign_requests_total{kind="PodCertificateRequest", outcome=~"denied|failed"}', '1h')}) > 0`,
    for: '0m',
    severity: 'warning',
    summary:
      'Pods get no certificate of {{ $labels.signer }}, with reason {{ $labels.reason }}: new ones do not start, and running ones lose theirs when it expires.',
  },
  {
    name: 'CountersignClockApart',
    // A certificate begins a minute before its issue by default.
    expr: 'max by (namespace, component) (abs(countersign_clock_offset_seconds)) > 60',
    for: '10m',
    severity: 'warning',
    summary:
      'The clock of {{ $labels.component }} and that of the API server are a minute apart: certificates begin too late or end too early.',
  },
  {
    name: 'CountersignEventLoopBlocked',
    // A sample includes the 0.1 s since the last one.
    expr: 'max by (namespace, component) (nodejs_eventloop_lag_p99_seconds * on (component, instance) group_left () countersign_build_info) > 0.6',
    for: '10m',
    severity: 'warning',
    summary:
      '{{ $labels.component }} is without CPU time for half a second and longer, again and again: requests and Leases are late.',
  },
];

/**
 * Returns PromQL for a gauge that only the leader updates. A replica that loses its Lease shows its
 * last values until it restarts, so those of standbys are left out. A component without Leases has
 * no series `countersign_leader` and counts. An alert aggregates it without `instance`, or a change
 * of the leader would begin its `for` again.
 *
 * @param gauge - a selector
 */
function ofLeader(gauge: string): string {
  return `(${gauge} unless on (namespace, component, instance) countersign_leader == 0)`;
}

/** The rules of a PrometheusRule (monitoring.coreos.com/v1). */
export const ALERT_RULES: readonly Manifest[] = ALERTS.map(
  ({ name, expr, for: duration, severity, summary }) => ({
    alert: name,
    expr,
    for: duration,
    labels: { severity },
    annotations: { summary },
  }),
);
