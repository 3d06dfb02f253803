// SPDX-License-Identifier: Apache-2.0
/**
 * When each alert of the chart fires and when it does not, as series over minutes in promtool's
 * notation.
 */

/** An alert over time. */
export interface AlertCase {
  /**
   * By series; the values a minute, as promtool expands them (`0x9 1x20`: ten zeros, then 21 ones).
   */
  readonly series: Readonly<Record<string, string>>;
  /** Last value of the first series, which a replica without the Lease still shows. */
  readonly former?: number;
  /** When it fires, and its labels without `alertname` and `severity`. */
  readonly fires: {
    readonly at: string;
    readonly labels: Readonly<Record<string, string>>;
    /** Its value, as the summary writes it. */
    readonly said?: string;
  };
  /** When it does not: before, while it is pending, and after the cause is gone. */
  readonly quiet: readonly string[];
}

const DAY = 86_400;
/** Scraped from a pod: what a scrape adds to the series of one component. */
const of = (component: string): string =>
  `component="${component}",namespace="countersign-system",instance="10.0.0.1:8443"`;
const at = (component: string): Readonly<Record<string, string>> => ({
  namespace: 'countersign-system',
  component,
});
const scraped = (component: string): Readonly<Record<string, string>> => ({
  ...at(component),
  instance: '10.0.0.1:8443',
});

const SIGNERS: Readonly<Record<string, AlertCase>> = {
  CountersignCaExpiresSoon: {
    // Two hours after the epoch; at 4 h 1 min the CA is replaced.
    series: {
      [`countersign_ca_full_leaves_until_timestamp_seconds{${of('authority')},signer="example.com/a"}`]: `${2 * 3600}x240 ${100 * DAY}x120`,
    },
    former: 60,
    fires: { at: '3h30m', labels: { ...at('authority'), signer: 'example.com/a' } },
    quiet: ['1h50m', '2h30m', '4h10m'],
  },
  CountersignCertificateRefused: {
    series: {
      [`countersign_ca_certificate_refused{${of('authority')},signer="example.com/a"}`]:
        '0x9 1x29 0x30',
    },
    former: 1,
    fires: { at: '30m', labels: { ...at('authority'), signer: 'example.com/a' } },
    quiet: ['9m', '12m', '45m'],
  },
  CountersignCertificateLate: {
    // A week and two hours after the epoch; at 4 h 1 min the certificate is installed.
    series: {
      [`countersign_ca_certificate_install_by_timestamp_seconds{${of('authority')},signer="example.com/a"}`]: `${7 * DAY + 2 * 3600}x240 ${100 * DAY}x120`,
    },
    former: 60,
    fires: {
      at: '3h30m',
      labels: { ...at('authority'), signer: 'example.com/a' },
      said: '6d 22h 30m 0s',
    },
    quiet: ['1h50m', '2h2m', '4h10m'],
  },
  CountersignKeyHolderAway: {
    // It is away for a minute, and then for ten.
    series: {
      [`countersign_key_holder_up{${of('pcr-issuer')},socket="/run/holder.sock"}`]:
        '1x9 0x0 1x19 0x9 1x20',
    },
    fires: { at: '35m', labels: at('pcr-issuer') },
    quiet: ['9m', '12m', '31m', '45m'],
  },
  CountersignKeyHolderKeyUnusable: {
    series: {
      [`countersign_key_holder_key_usable{${of('signer')},signer="example.com/a"}`]:
        '1x9 0x2 1x19 0x9 1x20',
    },
    fires: {
      at: '40m',
      labels: { ...at('signer'), signer: 'example.com/a' },
    },
    quiet: ['9m', '14m', '34m', '55m'],
  },
  CountersignKeyHolderRefuses: {
    series: {
      [`countersign_key_holder_refusals_total{${of('signer')},socket="/s",reason="allowed-names"}`]:
        '_x10 1x120',
    },
    fires: {
      at: '15m',
      labels: { ...at('signer'), reason: 'allowed-names' },
    },
    quiet: ['5m', '2h'],
  },
  CountersignExternalSignerNotReady: {
    // The CA is away for three minutes, and then for twenty.
    series: {
      [`countersign_external_signer_ready{${of('external-signer')},signer="example.com/a"}`]:
        '1x9 0x2 1x19 0x19 1x20',
    },
    former: 0,
    fires: {
      at: '45m',
      labels: { namespace: 'countersign-system', signer: 'example.com/a' },
    },
    quiet: ['9m', '13m', '41m', '60m'],
  },
  CountersignExternalAnswersRefused: {
    series: {
      [`countersign_external_refused_answers_total{${of('external-signer')},signer="example.com/a"}`]:
        '_x10 5x120',
    },
    fires: {
      at: '15m',
      labels: { namespace: 'countersign-system', signer: 'example.com/a' },
      said: '5',
    },
    quiet: ['5m', '2h'],
  },
  CountersignExternalOrdersBesideCertificates: {
    series: {
      [`countersign_external_orders_total{${of('external-signer')},signer="example.com/a",outcome="issued"}`]:
        '_x10 50x120',
      [`countersign_requests_total{${of('external-signer')},kind="PodCertificateRequest",signer="example.com/a",outcome="issued",reason="Issued"}`]:
        '_x10 20x120',
    },
    fires: {
      at: '25m',
      labels: { namespace: 'countersign-system', signer: 'example.com/a' },
      said: '30',
    },
    quiet: ['5m', '15m', '2h'],
  },
  CountersignAnchorExpiresSoon: {
    series: {
      [`countersign_trust_bundle_not_after_timestamp_seconds{${of('attester')},signer="example.com/a"}`]: `${DAY + 2 * 3600}x240 ${100 * DAY}x120`,
    },
    former: 60,
    fires: { at: '3h30m', labels: { ...at('attester'), signer: 'example.com/a' } },
    quiet: ['1h50m', '2h30m', '4h10m'],
  },
  CountersignCrlFails: {
    series: {
      [`countersign_crl_failing{${of('authority')},signer="example.com/a"}`]: '0x9 1x29 0x30',
    },
    former: 1,
    fires: { at: '30m', labels: { ...at('authority'), signer: 'example.com/a' } },
    quiet: ['9m', '15m', '45m'],
  },
  CountersignRequestsWait: {
    series: {
      [`countersign_request_pending{${of('signer')},signer="example.com/a"}`]: '0x9 3x40 0x30',
      // A rollout: never ten minutes without a zero.
      [`countersign_request_pending{${of('pcr-issuer')},signer="example.com/b"}`]:
        '5x4 0x0 5x4 0x0 5x4 0x0 5x4 0x0 5x4 0x0 5x4 0x0 5x4 0x0 5x4 0x0 5x4 0x0 5x4 0x0 5x4 0x0 5x4 0x0 5x4 0x0',
    },
    fires: { at: '30m', labels: { ...scraped('signer'), signer: 'example.com/a' } },
    quiet: ['12m', '20m', '60m'],
  },
  CountersignPodRequestsRefused: {
    series: {
      [`countersign_requests_total{${of('pcr-issuer')},kind="PodCertificateRequest",outcome="denied",reason="Denied",signer="example.com/a"}`]:
        // The first event makes the series.
        '_x10 1x120',
      [`countersign_requests_total{${of('signer')},kind="CertificateSigningRequest",outcome="denied",reason="Denied",signer="example.com/b"}`]:
        '_x10 1x120',
    },
    fires: { at: '20m', labels: { signer: 'example.com/a', reason: 'Denied' } },
    quiet: ['8m', '90m'],
  },
  CountersignRenewalRefused: {
    // Refused ten minutes after the epoch; the pod's certificate ends two hours after it.
    series: {
      [`countersign_renewal_refused_expiry_timestamp_seconds{${of('pcr-issuer')},owner="Deployment/web",owner_namespace="team-a",signer="example.com/a"}`]:
        '_x10 7200x180',
    },
    fires: {
      at: '20m',
      labels: { signer: 'example.com/a', owner_namespace: 'team-a', owner: 'Deployment/web' },
      said: '1h 40m 0s',
    },
    quiet: ['9m', '121m'],
  },
  CountersignRenewalOverdue: {
    series: {
      [`countersign_acme_renewals{${of('acme')},state="overdue"}`]: '0x9 1x100 0x30',
      [`countersign_acme_renewals{${of('acme')},state="scheduled"}`]: '5x150',
    },
    former: 1,
    fires: { at: '90m', labels: at('acme') },
    quiet: ['9m', '60m', '120m'],
  },
};

const TRUST: Readonly<Record<string, AlertCase>> = {
  CountersignUnexpectedAnchor: {
    series: {
      // The first event makes the series.
      [`countersign_trust_bundle_unexpected_anchors_total{${of('attester')},anchor="sha256:ab",signer="example.com/a"}`]:
        '_x10 1x120',
    },
    fires: {
      at: '20m',
      labels: { ...scraped('attester'), anchor: 'sha256:ab', signer: 'example.com/a' },
    },
    quiet: ['9m', '90m'],
  },
  CountersignRestartOverdue: {
    series: {
      [`countersign_refresh_workloads{${of('pod-refresher')},state="overdue"}`]: '0x9 2x60 0x60',
      [`countersign_refresh_workloads{${of('pod-refresher')},state="blocked"}`]: '3x120',
    },
    former: 3,
    fires: {
      at: '25m',
      labels: { namespace: 'countersign-system', state: 'overdue' },
      said: '2',
    },
    quiet: ['9m', '15m', '75m'],
  },
  CountersignTrustTargetsLagging: {
    series: {
      [`countersign_trust_targets_lagging{${of('trust-distributor')},signer="example.com/a"}`]:
        '0x9 2x60 0x60',
    },
    former: 2,
    fires: { at: '45m', labels: { namespace: 'countersign-system', signer: 'example.com/a' } },
    quiet: ['9m', '35m', '75m'],
  },
  CountersignFederationStale: {
    // A good answer at the tenth minute, the next one four hours later.
    series: {
      [`countersign_federation_confirmed_timestamp_seconds{${of('federation')},trust_domain="partner.example"}`]:
        '0x9 600x240 15000x60',
      [`countersign_federation_confirmed_timestamp_seconds{${of('federation')},trust_domain="never.example"}`]:
        '0x310',
    },
    fires: {
      at: '3h30m',
      labels: { namespace: 'countersign-system', trust_domain: 'partner.example' },
    },
    quiet: ['9m', '3h5m', '3h15m', '4h20m'],
  },
  CountersignFederatedBundleMissing: {
    series: {
      [`countersign_federation_anchors{${of('federation')},trust_domain="partner.example"}`]:
        '2x9 0x29 1x30',
    },
    former: 2,
    fires: {
      at: '20m',
      labels: { namespace: 'countersign-system', trust_domain: 'partner.example' },
    },
    quiet: ['9m', '12m', '45m'],
  },
  CountersignMissingPermissions: {
    series: { [`countersign_missing_permissions{${of('signer')}}`]: '0x9 2x29 0x30' },
    fires: { at: '20m', labels: at('signer') },
    quiet: ['9m', '12m', '45m'],
  },
  CountersignAdmissionPolicyDiffers: {
    series: {
      [`countersign_admission_policy_differences{${of('attester')},policy="countersign-bundles"}`]:
        '0x9 1x29 0x30',
    },
    fires: { at: '20m', labels: { ...at('attester'), policy: 'countersign-bundles' } },
    quiet: ['9m', '12m', '45m'],
  },
  CountersignUnrecordedCertificate: {
    series: { [`countersign_ledger_unrecorded_certificates{${of('ledger')}}`]: '0x9 1x29 0x30' },
    former: 1,
    fires: { at: '12m', labels: { namespace: 'countersign-system' } },
    quiet: ['9m', '45m'],
  },
  CountersignLedgerAway: {
    series: { [`countersign_ledger_failing{${of('signer')}}`]: '0x9 1x29 0x30' },
    fires: { at: '20m', labels: at('signer') },
    quiet: ['9m', '12m', '45m'],
  },
  CountersignCheckpointTooOld: {
    // The log grows all the time; from 10 min to an hour no checkpoint is signed. The ledger
    // restarts at 25 min, and its metrics begin without one.
    series: {
      [`countersign_ledger_appended_total{${of('ledger')},sender="signer"}`]: '0+5x120',
      [`countersign_ledger_checkpoint_timestamp_seconds{${of('ledger')},log="2026"}`]:
        '0+60x10 600x14 _x34 3600+60x60',
    },
    fires: { at: '45m', labels: { namespace: 'countersign-system' } },
    quiet: ['9m', '17m', '70m'],
  },
};

const LEDGER: Readonly<Record<string, AlertCase>> = {
  CountersignLedgerApiUnavailable: {
    // Away from 10 min to 40 min, as kube-apiserver says.
    series: {
      'aggregator_unavailable_apiservice{name="v1alpha1.ledger.countersign.dev"}': '0x9 1x29 0x30',
    },
    fires: { at: '20m', labels: { name: 'v1alpha1.ledger.countersign.dev' } },
    quiet: ['9m', '11m', '45m'],
  },
  CountersignLedgerDoesNotGrow: {
    // Certificates all the time; from 10 min to 70 min the ledger keeps nothing.
    series: {
      [`countersign_requests_total{${of('signer')},kind="CertificateSigningRequest",outcome="issued",reason="Issued",signer="example.com/a"}`]:
        '0+5x180',
      [`countersign_ledger_failing{${of('signer')}}`]: '0x180',
      [`countersign_ledger_appended_total{${of('ledger')},sender="signer"}`]:
        '0+5x10 50x59 50+5x110',
    },
    fires: { at: '60m', labels: { namespace: 'countersign-system' } },
    quiet: ['9m', '20m', '35m', '80m'],
  },
  CountersignWitnessSilent: {
    // Silent from 10 min to 70 min after the epoch.
    series: {
      [`countersign_ledger_checkpoint_unpublished_since_timestamp_seconds{${of('ledger')},destination="witness.example.com"}`]:
        '0x9 600x59 0x60',
    },
    former: 1,
    fires: {
      at: '60m',
      labels: { namespace: 'countersign-system', destination: 'witness.example.com' },
    },
    quiet: ['9m', '20m', '28m', '75m'],
  },
  CountersignNotificationsFailing: {
    // Away from 10 min to 70 min after the epoch.
    series: {
      [`countersign_notifications_failing_since_timestamp_seconds{${of('notifier')},target="ops"}`]:
        '0x9 600x59 0x60',
    },
    former: 1,
    fires: { at: '60m', labels: { namespace: 'countersign-system', target: 'ops' } },
    quiet: ['9m', '20m', '28m', '75m'],
  },
  CountersignNotificationsDropped: {
    // The first of a series, which begins with it.
    series: {
      [`countersign_notifications_dropped_total{${of('notifier')},target="ops",reason="full"}`]:
        '_x9 1x170',
    },
    fires: {
      at: '15m',
      labels: { namespace: 'countersign-system', target: 'ops', reason: 'full' },
    },
    quiet: ['5m', '120m'],
  },
  CountersignLedgerContradicted: {
    series: {
      [`countersign_ledger_checkpoint_contradicted{${of('ledger')},destination="witness.example.com"}`]:
        '0x9 1x29 0x30',
    },
    former: 1,
    fires: {
      at: '12m',
      labels: { namespace: 'countersign-system', destination: 'witness.example.com' },
    },
    quiet: ['9m', '45m'],
  },
};

const PROCESSES: Readonly<Record<string, AlertCase>> = {
  CountersignNoLeader: {
    series: {
      [`countersign_leader{${of('authority')}}`]: '1x9 0x60',
      [`countersign_leader{${of('authority').replace('10.0.0.1', '10.0.0.2')}}`]: '0x39 1x30',
      // Another component has one all the time.
      [`countersign_leader{${of('attester')}}`]: '1x70',
    },
    fires: { at: '20m', labels: at('authority') },
    quiet: ['9m', '12m', '50m'],
  },
  CountersignServingCertificateExpiresSoon: {
    series: {
      [`countersign_serving_certificate_not_after_timestamp_seconds{${of('signer')}}`]: `${DAY + 2 * 3600}x240 ${100 * DAY}x120`,
      // A port without a certificate.
      [`countersign_serving_certificate_not_after_timestamp_seconds{${of('approver')}}`]: '0x360',
    },
    fires: { at: '3h30m', labels: scraped('signer') },
    quiet: ['1h50m', '2h30m', '4h10m'],
  },
  CountersignClockApart: {
    series: {
      [`countersign_clock_offset_seconds{${of('signer')}}`]: '1x9 -90x29 2x30',
      [`countersign_clock_offset_seconds{${of('approver')}}`]: '-30x70',
    },
    fires: { at: '30m', labels: at('signer') },
    quiet: ['9m', '15m', '45m'],
  },
  CountersignEventLoopBlocked: {
    series: {
      [`nodejs_eventloop_lag_p99_seconds{${of('signer')}}`]: '0.1x9 0.9x29 0.59x30',
      [`countersign_build_info{${of('signer')},version="0.0.0"}`]: '1x70',
      // Somebody else's Node program.
      ['nodejs_eventloop_lag_p99_seconds{component="shop",namespace="shop",instance="10.0.0.9:80"}']:
        '0.9x70',
    },
    fires: { at: '30m', labels: at('signer') },
    quiet: ['9m', '15m', '45m'],
  },
};

export const ALERT_CASES: Readonly<Record<string, AlertCase>> = {
  ...SIGNERS,
  ...TRUST,
  ...LEDGER,
  ...PROCESSES,
};
