// SPDX-License-Identifier: Apache-2.0
/** Every permission of every component of the demo's installation, a line each. */
const READ = 'get,list,watch';
const both = '[example.com/workload example.com/people]';
const cas = '[workload-ca people-ca] @countersign-keys';
const POLICY_KINDS = 'validatingadmissionpolicies,validatingadmissionpolicybindings';
/** Reading the admission policies that a component relies on, by name. */
const policies = (...names: readonly string[]): string => {
  const all = [...names, 'component-metadata', 'events', 'leases', 'leases-deleted'].map(
    (each) => `countersign-${each}`,
  );
  return `get admissionregistration.k8s.io/${POLICY_KINDS} [${all.join(' ')}]`;
};
const EVENTS = 'create,patch events.k8s.io/events @default';

const MEMBER = `create,${READ},update,delete coordination.k8s.io/leases @countersign-system`;
const leader = (component: string): string[] => [
  'create coordination.k8s.io/leases @countersign-system',
  `${READ},update coordination.k8s.io/leases [countersign-${component}.countersign-keys] @countersign-system`,
];

const servingSecrets = [
  'approver',
  'signer',
  'pcr-issuer',
  'certificate-request',
  'external-signer',
  'attester',
  'authority',
  'acme',
  'acme-responder',
  'acme-solver',
  'pod-refresher',
  'ledger',
  'trust-distributor',
  'bundle-endpoint',
  'federation',
  'notifier',
]
  .map((component) => `countersign-${component}-serving`)
  .join(' ');

// The table of what each component may, design §2, less `update` of CA Secrets, which are patched;
// and more by what a warning takes: reading the policies that guard it.
export const table: Record<string, readonly string[]> = {
  approver: [
    `${READ} countersign.dev/clustersigners`,
    `${READ} acme.countersign.dev/acmeclustersigners`,
    `${READ} countersign.dev/externalclustersigners`,
    `${READ} certificates.k8s.io/certificatesigningrequests`,
    'update certificates.k8s.io/certificatesigningrequests/approval',
    `approve certificates.k8s.io/signers ${both}`,
    policies(
      'cluster-signers',
      'acme-cluster-signers',
      'external-cluster-signers',
      'request-metadata',
    ),
    EVENTS,
    MEMBER,
  ],
  signer: [
    `${READ} countersign.dev/clustersigners`,
    `${READ} certificates.k8s.io/clustertrustbundles`,
    `${READ} certificates.k8s.io/certificatesigningrequests`,
    'update certificates.k8s.io/certificatesigningrequests/status',
    `${READ} countersign.dev/revocations`,
    `sign certificates.k8s.io/signers ${both}`,
    policies('cluster-signers', 'request-metadata'),
    `${READ} /secrets ${cas}`,
    EVENTS,
    MEMBER,
  ],
  'pcr-issuer': [
    `${READ} countersign.dev/clustersigners`,
    `${READ} certificates.k8s.io/clustertrustbundles`,
    `${READ} certificates.k8s.io/podcertificaterequests`,
    'update certificates.k8s.io/podcertificaterequests/status',
    `${READ} countersign.dev/revocations`,
    `sign certificates.k8s.io/signers ${both}`,
    'create,patch events.k8s.io/events',
    policies('cluster-signers', 'pod-certificate-requests'),
    `${READ} /secrets ${cas}`,
    MEMBER,
  ],
  'certificate-request': [
    `${READ} countersign.dev/clustersigners`,
    `${READ} certificates.k8s.io/clustertrustbundles`,
    `${READ} cert-manager.io/certificaterequests`,
    'update cert-manager.io/certificaterequests/status',
    `${READ} countersign.dev/revocations`,
    'create,patch events.k8s.io/events',
    policies(
      'cluster-signers',
      'certificate-request-identity',
      'certificate-request-spec',
      'certificate-request-approval',
      'certificate-request-answers',
    ),
    `${READ} /secrets ${cas}`,
    MEMBER,
  ],
  'external-signer': [
    `${READ} countersign.dev/clustersigners`,
    `${READ} countersign.dev/externalclustersigners`,
    'update countersign.dev/externalclustersigners/status',
    `${READ} certificates.k8s.io/podcertificaterequests`,
    'update certificates.k8s.io/podcertificaterequests/status',
    `${READ} certificates.k8s.io/certificatesigningrequests`,
    'update certificates.k8s.io/certificatesigningrequests/status',
    'create,patch events.k8s.io/events',
    policies(
      'external-cluster-signers',
      'external-cluster-signer-vaults',
      'external-cluster-signer-status',
      'pod-certificate-requests',
      'request-metadata',
    ),
    ...leader('external-signer'),
  ],
  attester: [
    `${READ} countersign.dev/clustersigners`,
    `${READ} certificates.k8s.io/clustertrustbundles`,
    'create certificates.k8s.io/clustertrustbundles',
    'update,delete certificates.k8s.io/clustertrustbundles [example.com:workload:primary countersign.dev:serving:primary]',
    'attest certificates.k8s.io/signers [example.com/workload example.com/people countersign.dev/serving]',
    policies('cluster-signers', 'cluster-signer-status', 'attester-bundles'),
    EVENTS,
    ...leader('attester'),
  ],
  authority: [
    `${READ} countersign.dev/clustersigners`,
    `${READ} certificates.k8s.io/clustertrustbundles`,
    'update countersign.dev/clustersigners/status',
    policies(
      'cluster-signers',
      'cluster-signer-secrets',
      'cluster-signer-status',
      'cluster-signer-upstreams',
      'cluster-signer-vaults',
      'authority-secrets',
      'authority-certificate-requests',
      'authority-crls',
      'revocations',
    ),
    `${READ} countersign.dev/revocations`,
    'update countersign.dev/revocations/status',
    'create /secrets @countersign-keys',
    `${READ},patch /secrets [workload-ca people-ca countersign-serving-ca] @countersign-keys`,
    'create /configmaps @countersign-keys',
    `${READ},patch /configmaps [workload-ca-crl people-ca-crl countersign-serving-ca-crl] @countersign-keys`,
    'get,patch /secrets [workload-ca-hub people-ca-hub countersign-serving-ca-hub] @countersign-keys',
    EVENTS,
    'create,list,watch coordination.k8s.io/leases @countersign-system',
    'get,update coordination.k8s.io/leases [countersign-authority.countersign-keys] @countersign-system',
    `${READ},patch /secrets [${servingSecrets}] @countersign-system`,
    `${READ},patch /configmaps [countersign-serving-ca] @countersign-system`,
  ],
  // No CA key and no credential of a solver; the demo has no ACME signer.
  acme: [
    `${READ} countersign.dev/clustersigners`,
    `${READ} acme.countersign.dev/acmeclustersigners`,
    'update acme.countersign.dev/acmeclustersigners/status',
    `${READ},create,delete acme.countersign.dev/orders`,
    `${READ},create,patch,deletecollection acme.countersign.dev/challenges`,
    'update acme.countersign.dev/orders/status,challenges/status',
    ...[
      'certificates.k8s.io/certificatesigningrequests',
      'cert-manager.io/certificaterequests',
    ].flatMap((requests) => [`${READ} ${requests}`, `update ${requests}/status`]),
    policies(
      ...['cluster-signers', 'account-keys', 'signer-status', 'orders', 'challenge-status'].map(
        (each) => `acme-${each}`,
      ),
      'acme-revocation',
      'acme-answers',
      'certificate-request-identity',
      'certificate-request-spec',
      'certificate-request-approval',
      'request-metadata',
    ),
    'create,patch events.k8s.io/events',
    ...leader('acme'),
  ],
  // It faces the Internet: no Secret, no Lease, no Event, nothing to write.
  'acme-responder': ['list,watch acme.countersign.dev/challenges'],
  'acme-solver': [
    'list,watch acme.countersign.dev/challenges,acmeclustersigners',
    'patch acme.countersign.dev/challenges/status',
    'create,patch events.k8s.io/events',
    policies(
      ...[
        'cluster-signers',
        'account-keys',
        'orders',
        'challenge-status',
        'ingresses',
        'http-routes',
      ].map((each) => `acme-${each}`),
    ),
    'list,create,patch,delete networking.k8s.io/ingresses @countersign-system',
    'list,create,patch,delete gateway.networking.k8s.io/httproutes @countersign-system',
    ...leader('acme-solver'),
  ],
  // No Secret; what a patch may change is in the policy.
  'pod-refresher': [
    'list,watch /namespaces',
    'list,watch,patch apps/deployments,statefulsets,daemonsets',
    'get,list /pods',
    'create /pods/eviction',
    'list,watch policy/poddisruptionbudgets',
    'list,watch cert-manager.io/certificates,certificaterequests',
    'list,watch certificates.k8s.io/podcertificaterequests,clustertrustbundles',
    'list,watch countersign.dev/clustersigners',
    'create,patch events.k8s.io/events',
    policies('refreshed-workloads', 'refreshed-pods'),
    ...leader('pod-refresher'),
  ],
  'trust-distributor': [
    `${READ} countersign.dev/clustersigners`,
    `${READ} certificates.k8s.io/clustertrustbundles`,
    'list,watch /namespaces',
    'list,watch,create,patch,delete /configmaps [example.com.workload.primary countersign.dev.serving.primary]',
    'create,patch events.k8s.io/events',
    policies('trust-config-maps', 'trust-ca-bundles'),
    ...leader('trust-distributor'),
  ],
  // It faces other organizations: no Secret, no Lease, no Event, nothing to write.
  'bundle-endpoint': [
    `${READ} countersign.dev/clustersigners`,
    `${READ} certificates.k8s.io/clustertrustbundles`,
  ],
  // No Secret; the demo names no foreign trust domain.
  federation: [
    `${READ} countersign.dev/clustersigners`,
    `${READ} certificates.k8s.io/clustertrustbundles`,
    policies('federated-bundles'),
    EVENTS,
    ...leader('federation'),
  ],
  // No Secret, and of pods nothing unless it is let.
  notifier: [
    `${READ} countersign.dev/clustersigners`,
    'list,watch acme.countersign.dev/acmeclustersigners',
    'list,watch certificates.k8s.io/certificatesigningrequests,podcertificaterequests',
    'list,watch cert-manager.io/certificaterequests',
    policies('notifier-objects'),
    'get,patch /configmaps [countersign-notifier] @countersign-system',
    'create,patch events.k8s.io/events @countersign-system',
    ...leader('notifier'),
  ],
  ledger: [
    'create authentication.k8s.io/tokenreviews',
    'create authorization.k8s.io/subjectaccessreviews',
    `${READ} countersign.dev/clustersigners`,
    'list,watch certificates.k8s.io/certificatesigningrequests,podcertificaterequests',
    'list,watch cert-manager.io/certificaterequests',
    policies('ledger-objects'),
    'get,update /secrets [countersign-ledger-key] @countersign-system',
    'get,patch /configmaps [countersign-ledger-checkpoints] @countersign-system',
    'get,patch /configmaps [countersign-ledger-findings] @countersign-system',
    'list,watch /configmaps [countersign-ledger-uploads] @countersign-system',
    ...leader('ledger'),
    EVENTS,
    'list,watch /configmaps [workload-ca-crl people-ca-crl] @countersign-keys',
  ],
};
