// SPDX-License-Identifier: Apache-2.0
/** Values with every string that the chart takes, and every part that uses one. */

const SECRET = { namespace: 'team-a', name: 'team-secret' };
const EGRESS = [
  { to: [{ ipBlock: { cidr: '10.0.0.0/8' } }], ports: [{ protocol: 'UDP' }, { port: 443 }] },
  { to: [{ podSelector: { matchLabels: { app: 'dns' } } }] },
];
const PEERS = [{ podSelector: { matchLabels: { app: 'prometheus' } } }];
const SETTINGS = {
  resources: { requests: { cpu: '10m' }, limits: { memory: '1Gi' } },
  extraArgs: ['--log-level=debug'],
  extraEnv: [{ name: 'SWITCH', value: 'on' }],
  labels: { team: 'platform' },
  annotations: { note: 'harmless' },
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'pki', effect: 'NoSchedule' }],
  affinity: { nodeAffinity: { kind: 'none' } },
  topologySpreadConstraints: [{ topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }],
  priorityClassName: 'system-cluster-critical',
  podSecurityContext: { runAsUser: 1_000_650_000, fsGroup: 'none' },
};
const HOLDER = {
  keys: [
    {
      name: 'workload',
      secret: 'workload-key',
      encrypted: true,
      signerNames: ['example.com/workload'],
      leaf: {
        maxDuration: '24h',
        maxBackdate: '1m',
        maxPostdate: '1m',
        keyTypes: ['ECDSAP256'],
        usages: ['digital signature'],
        names: {
          commonNames: ['a.*'],
          organizations: ['b.*'],
          organizationalUnits: ['c.*'],
          dnsNames: ['d.*'],
          uris: ['e.*'],
          emails: ['f.*'],
          ipAddresses: ['10.0.0.0/8'],
        },
        crlUrls: ['http://crl.example.com/workload.crl'],
      },
    },
    {
      name: 'hsm',
      secret: 'hsm-pin',
      pkcs11: { token: 'ca', label: 'ca 2026', id: '0a1b' },
      signerNames: ['example.com/workload'],
      leaf: { maxDuration: '24h' },
    },
  ],
  pkcs11: {
    image: 'registry.example/hsm:1',
    module: '/usr/lib/p11.so',
    env: [{ name: 'VENDOR_CONF', value: '/etc/vendor.conf' }],
    files: 'hsm-client',
  },
  resources: { requests: { cpu: '10m' }, limits: { memory: '1Gi' } },
};
const ENABLED = [
  'certificate-request',
  'external-signer',
  'acme',
  'acme-responder',
  'acme-solver',
  'pod-refresher',
  'ledger',
  'trust-distributor',
  'bundle-endpoint',
  'federation',
  'notifier',
];

export const FULL = {
  signers: [
    { name: 'example.com/workload', bundle: 'main', secret: 'corp-ca', serves: ['pods'] },
    { name: 'example.org/people' },
  ],
  signerDomains: ['example.org'],
  namespacedSigners: { enabled: true, secrets: [SECRET] },
  podServices: true,
  acme: {
    signers: [{ name: 'a.example/public', accountSecret: 'account', externalAccountSecret: 'eab' }],
    renewCertificates: true,
    solverSecrets: [{ namespace: 'countersign-dns', name: 'tsig' }],
    dnsWebhooks: ['acme.provider.example/records'],
    routeMetadata: ['team=edge'],
    secrets: [{ namespace: 'team-b', name: 'team-account' }],
    servers: ['https://acme.example/dir'],
    solvers: ['rfc2136=ns1.example.com:53'],
    networks: ['10.0.0.0/8'],
    http01Zones: ['team-a=team-a.example.com'],
  },
  injection: {
    enabled: true,
    profiles: [
      {
        name: 'db',
        signerName: 'example.com/workload',
        keyType: 'ED25519',
        mountPath: '/var/lib/client-tls',
        env: [{ name: 'PGSSLKEY', file: 'key.pem' }],
      },
    ],
  },
  caBundles: {
    validatingWebhookConfigurations: ['validating'],
    mutatingWebhookConfigurations: ['mutating'],
    apiServices: ['v1.api.example.com'],
    customResourceDefinitions: ['things.example.com'],
  },
  bundleEndpoint: { svidSigner: 'example.com/workload' },
  federation: {
    trustDomains: [
      {
        name: 'partner.example',
        profile: 'https_spiffe',
        url: 'https://partner.example/',
        serverId: 'spiffe://partner.example/bundle-endpoint',
      },
    ],
    endedTrustDomains: ['was.example'],
    ownTrustDomains: ['prod.example.com'],
    networks: ['10.0.0.0/8'],
    keep: '3h',
    egress: EGRESS,
  },
  namespace: 'pki',
  keysNamespace: 'pki-keys',
  image: {
    repository: 'registry.example/c',
    tag: '1.2.3',
    pullPolicy: 'Always',
    digest: `sha256:${'01234567'.repeat(8)}`,
    pullSecrets: [{ name: 'pull' }],
  },
  networkPolicy: { enabled: true, from: PEERS },
  serviceMonitor: { enabled: true, labels: { release: 'monitor' }, interval: '30s' },
  alerts: { enabled: true, labels: { release: 'alerts' } },
  dashboards: { enabled: true, labels: { grafana: 'boards' } },
  upstreamIssuers: [
    'upstream/ClusterIssuer.cert-manager.io/corporate',
    'upstream/Issuer.cert-manager.io/second',
    'paid/AWSPCAClusterIssuer.awspca.cert-manager.io/paid',
  ],
  upstreamVaults: ['https://vault.example.com:8200', 'https://bao.example.com'],
  external: {
    signers: ['example.com/corporate', 'example.com/other'],
    vaults: ['https://vault.example.com:8200'],
  },
  ledger: {
    mode: 'required',
    storage: { size: '10Gi', className: 'fast' },
    postgres: { secret: 'ledger-database', url: 'postgresql://user@db.example.com:5432/records' },
    checkpoints: {
      webhook: 'https://hooks.example.com/checkpoints',
      witnesses: [`witness.example/a+0123abcd+${'A'.repeat(44)}@https://witness.example/a/`],
      interval: '10s',
    },
    monitoredSecrets: [{ namespace: 'team-c', name: 'web-tls' }],
    retention: '400d',
    omit: ['request'],
  },
  notifications: {
    targets: [
      {
        name: 'desk',
        url: 'https://desk.example/hook',
        handshake: 'desk.example',
        events: ['certificate.expiring'],
      },
    ],
    networks: ['10.0.0.0/8'],
    source: 'https://cluster.example/one',
    expiring: '7d',
    egress: EGRESS,
  },
  defaults: SETTINGS,
  components: {
    ...Object.fromEntries(ENABLED.map((name) => [name, { enabled: true }])),
    'pcr-issuer': { ...SETTINGS, keyHolder: HOLDER },
  },
};
