// SPDX-License-Identifier: Apache-2.0
import type { Manifest } from '../roles.ts';
import { grown } from './grown.ts';

/** An alert: what it says, when, and for how long that must hold. */
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
    // A managed CA is replaced after four fifths of its life: what gets here waits for somebody.
    expr: 'countersign_ca_full_leaves_until_timestamp_seconds - time() < 0',
    for: '1h',
    severity: 'critical',
    summary:
      'Leaves of {{ $labels.signer }} end with their CA, earlier than the profile says. Read the conditions of its ClusterSigner.',
  },
  {
    name: 'CountersignAnchorExpiresSoon',
    expr: 'countersign_trust_bundle_not_after_timestamp_seconds - time() < 86400',
    for: '1h',
    severity: 'warning',
    summary: 'A trust anchor in the bundle of {{ $labels.signer }} expires within a day.',
  },
  {
    name: 'CountersignCrlFails',
    // A CRL is signed after half of its validity: there is as much time again to act.
    expr: 'countersign_crl_failing > 0',
    for: '10m',
    severity: 'critical',
    summary:
      'A CRL of {{ $labels.signer }} cannot be signed or written. Read the Events of its ClusterSigner.',
  },
  {
    name: 'CountersignRequestsWait',
    // The gauge counts what a component still has to answer; a healthy one answers in seconds.
    expr: 'min_over_time(countersign_request_pending[10m]) > 0',
    for: '5m',
    severity: 'warning',
    summary:
      'Requests of {{ $labels.signer }} wait for {{ $labels.component }}. Read the Events of a request that waits.',
  },
  {
    name: 'CountersignRenewalOverdue',
    expr: 'max by (namespace, component) (countersign_acme_renewals{state="overdue"}) > 0',
    for: '1h',
    severity: 'warning',
    summary:
      'A certificate of an ACME signer should have been renewed by now. kubectl get orders.acme.countersign.dev -A -o wide says which.',
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
    name: 'CountersignMissingRights',
    expr: 'max by (namespace, component) (countersign_missing_rights) > 0',
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
    name: 'CountersignStrangerAnchor',
    expr: `${grown('countersign_trust_bundle_stranger_anchors_total', '1h')} > 0`,
    for: '0m',
    severity: 'critical',
    summary:
      'Somebody wrote a foreign anchor into the bundle of {{ $labels.signer }}; it was removed.',
  },
  {
    name: 'CountersignTrustTargetsLagging',
    expr: 'max by (namespace, signer) (countersign_trust_targets_lagging) > 0',
    // A rotation waits for them so long, by default.
    for: '30m',
    severity: 'warning',
    summary:
      'Trust targets of {{ $labels.signer }} cannot be written: whoever reads them will refuse leaves of the next CA.',
  },
  {
    name: 'CountersignFederationStale',
    // The longest that is waited between two looks is an hour. 0: there never was a bundle.
    expr: 'time() - (max by (namespace, trust_domain) (countersign_federation_confirmed_timestamp_seconds) > 0) > 10800',
    for: '10m',
    severity: 'warning',
    summary:
      'The bundle endpoint of {{ $labels.trust_domain }} has given no good answer for three hours. Once --keep has passed, its SVIDs are not trusted any more.',
  },
  {
    name: 'CountersignFederatedBundleMissing',
    expr: 'max by (namespace, trust_domain) (countersign_federation_anchors) == 0',
    for: '5m',
    severity: 'critical',
    summary:
      'There is no bundle of the foreign trust domain {{ $labels.trust_domain }}: nobody here trusts its SVIDs. /readyz of federation says why.',
  },
  {
    name: 'CountersignUnrecordedCertificate',
    expr: 'max by (namespace) (countersign_ledger_unrecorded_certificates) > 0',
    for: '0m',
    severity: 'critical',
    summary:
      'A certificate of our CA has no record: somebody else may have the key. ConfigMap countersign-ledger-findings names it.',
  },
  {
    name: 'CountersignLedgerAway',
    expr: 'max by (namespace, component) (countersign_ledger_failing) > 0',
    for: '5m',
    severity: 'critical',
    summary:
      'The ledger does not take the records of {{ $labels.component }}: it issues without records, or not at all.',
  },
  {
    name: 'CountersignCheckpointTooOld',
    expr: '(time() - max by (namespace) (countersign_ledger_checkpoint_timestamp_seconds > 0) > 300) and on (namespace) (sum by (namespace) (increase(countersign_ledger_appended_total[5m])) > 0)',
    for: '5m',
    severity: 'warning',
    summary:
      'The log of the ledger grows, and no checkpoint of it is signed. /readyz of ledger says why.',
  },
  {
    name: 'CountersignLedgerDoesNotGrow',
    // Only where components record: those that do have the series of failing.
    expr: 'sum by (namespace) (increase(countersign_requests_total{outcome="issued"}[15m])) > 0 and on (namespace) max by (namespace) (countersign_ledger_failing) >= 0 unless on (namespace) sum by (namespace) (increase(countersign_ledger_appended_total[15m])) > 0',
    for: '15m',
    severity: 'critical',
    summary: 'Certificates are issued, and the ledger keeps no record of them.',
  },
  {
    name: 'CountersignWitnessSilent',
    expr: 'time() - (max by (namespace, destination) (countersign_ledger_checkpoint_unpublished_since_timestamp_seconds) > 0) > 900',
    for: '5m',
    severity: 'warning',
    summary:
      '{{ $labels.destination }} has not taken a checkpoint for a quarter of an hour: what was appended since then can be rewritten unnoticed.',
  },
  {
    name: 'CountersignLedgerContradicted',
    expr: 'max by (namespace, destination) (countersign_ledger_checkpoint_contradicted) > 0',
    for: '0m',
    severity: 'critical',
    summary:
      '{{ $labels.destination }} has seen another past of the ledger: an older copy was restored, or the log was rewritten.',
  },
  {
    name: 'CountersignNotificationsFailing',
    expr: 'time() - (max by (namespace, target) (countersign_notifications_failing_since_timestamp_seconds) > 0) > 900',
    for: '5m',
    severity: 'warning',
    summary:
      'Target {{ $labels.target }} has taken no notification for a quarter of an hour. /readyz of notifier says why.',
  },
  {
    name: 'CountersignNotificationsDropped',
    expr: `sum by (namespace, target, reason) (${grown('countersign_notifications_dropped_total', '1h')}) > 0`,
    for: '0m',
    severity: 'warning',
    summary:
      'Target {{ $labels.target }} was not told of something ({{ $labels.reason }}), and will not be.',
  },
  {
    name: 'CountersignServingCertificateExpiresSoon',
    // 0: the port has none, which /readyz says.
    expr: '(countersign_serving_certificate_not_after_timestamp_seconds > 0) - time() < 86400',
    for: '1h',
    severity: 'warning',
    summary: 'The certificate of the HTTPS port of {{ $labels.component }} expires within a day.',
  },
  {
    name: 'CountersignPodRequestsRefused',
    expr: `sum by (signer, reason) (${grown('countersign_requests_total{kind="PodCertificateRequest", outcome=~"denied|failed"}', '1h')}) > 0`,
    for: '0m',
    severity: 'warning',
    summary:
      'Pods get no certificate of {{ $labels.signer }}, with reason {{ $labels.reason }}: new ones do not start, and running ones lose theirs when it expires.',
  },
  {
    name: 'CountersignClockApart',
    // By default a certificate begins a minute before its issue.
    expr: 'max by (namespace, component) (abs(countersign_clock_offset_seconds)) > 60',
    for: '10m',
    severity: 'warning',
    summary:
      'The clock of {{ $labels.component }} and that of the API server are a minute apart: certificates begin too late or end too early.',
  },
  {
    name: 'CountersignEventLoopBlocked',
    expr: 'max by (namespace, component) (nodejs_eventloop_lag_p99_seconds * on (component, instance) group_left () countersign_build_info) > 0.5',
    for: '10m',
    severity: 'warning',
    summary:
      '{{ $labels.component }} is without CPU time for half a second and longer: requests and Leases are late.',
  },
];

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
