// SPDX-License-Identifier: Apache-2.0
/** CustomResourceDefinition of Countersign: the values of the chart, under the same names. */
import { KEY_TYPES, LEAF_USAGES, OMITTABLE_FIELDS } from '#base/vocabulary.ts';
import { SERVED_KINDS } from '#api/signer/cluster-signer.ts';
import { MAX_SIGNER_NAME } from '#api/signer/signer-name.ts';
import {
  DNS_LABEL,
  flag,
  list,
  object,
  objectName,
  oneOf,
  text,
  type Kind,
  type Schema,
} from '../acme-crds/schema.ts';
import {
  COLUMNS,
  EXTRA_ARGS,
  OVERRIDES,
  POD_SECURITY_CONTEXT,
  STATUS,
  fileOf,
} from './installation-schema.ts';

const byComponent = (description: string, value: Schema): Schema => ({
  type: 'object',
  description,
  maxProperties: 32,
  additionalProperties: value,
});

const placedSecrets = (description: string, placed: string): Schema =>
  list(
    256,
    description,
    object(['namespace', 'name'], 'One Secret.', {
      namespace: text(63, placed, { pattern: DNS_LABEL }),
      name: objectName('Name of the Secret.'),
    }),
  );

const flagTexts = (description: string, one: string): Schema =>
  list(256, description, text(2048, one, { pattern: '^[A-Za-z0-9_.:/=[\\]-]*$' }));

/** Fields that no role bounds say so. */
const BY_FLAG = 'Takes the operator’s flag --allow-danger-zone.';

const ACME = object(
  [],
  'What the components acme, acme-solver and acme-responder serve, where they are enabled.',
  {
    signers: list(
      256,
      'One item for each AcmeClusterSigner.',
      object(['name'], 'One signer name.', {
        name: text(MAX_SIGNER_NAME, 'The signer name, such as example.com/public.'),
        accountSecret: objectName(
          'Name of the Secret of its account key. Default: the path of the signer name and -account.',
        ),
        externalAccountSecret: objectName(
          'Name of the Secret with the MAC key of its external account.',
        ),
      }),
    ),
    secrets: placedSecrets(
      'Secrets of AcmeSigners that acme may read: account keys and external accounts.',
      'The namespace of the AcmeSigner.',
    ),
    solverSecrets: placedSecrets(
      'Secrets with credentials of DNS that acme-solver may read.',
      'countersign-dns, or the namespace of the AcmeSigner.',
    ),
    dnsWebhooks: flagTexts(
      'DNS webhooks written for cert-manager that acme-solver may call.',
      'Its <groupName>/<solverName>.',
    ),
    routeMetadata: flagTexts(
      `Labels and annotations that the routes of acme-solver may have. ${BY_FLAG}`,
      'Such as example.com/key=value.',
    ),
    renewCertificates: flag(
      'Let acme mark Certificates of cert-manager when their CA wants them renewed. Default: false.',
    ),
    servers: flagTexts(`Directories that AcmeSigners may name. ${BY_FLAG}`, 'Its URL.'),
    solvers: flagTexts(
      `What solvers of AcmeSigners may call. ${BY_FLAG}`,
      'rfc2136=host:port, acmeDNS=url, webhook=group or nameserver=host:port.',
    ),
    networks: flagTexts(
      `Networks beside the Internet that these servers may be in. ${BY_FLAG}`,
      'Such as 10.0.0.0/8.',
    ),
    http01Zones: flagTexts(
      `Names that AcmeSigners of a namespace may prove by HTTP-01. ${BY_FLAG}`,
      'Such as team-a=team-a.example.com.',
    ),
  },
);

const LEDGER = object([], 'The ledger, where the component is enabled.', {
  mode: oneOf(
    ['off', 'required', 'best-effort'],
    `How components record in it. Default: best-effort. ${BY_FLAG}`,
  ),
  aggregatedApi: flag(
    'Let the API server serve its records, so that kubectl get records works. While the ledger is away, the API server then deletes no namespace of the cluster. It takes two replicas and a PostgreSQL, and the operator’s flag --allow-danger-zone. Default: false.',
  ),
  facts: flag(
    'Let pcr-issuer and pod-refresher read from it what happened before their start: they may then read every record. Default: false.',
  ),
  storage: object([], 'A ReadWriteOnce volume, which stays.', {
    size: text(64, 'Of the volume. Default: 10Gi.'),
    className: text(253, 'StorageClass. Default: that of the cluster.', { minLength: 0 }),
  }),
  postgres: object([], `A PostgreSQL in place of the volume. ${BY_FLAG}`, {
    secret: objectName(
      'Name of a Secret in the namespace of the components: key url, the whole URL, or password.',
    ),
    url: text(2000, 'URL without a password. Default: the key url says it.', { minLength: 0 }),
    ownCa: flag('Trust only the CAs in the key ca.crt of that Secret.'),
  }),
  checkpoints: object(
    [],
    `Where checkpoints go outside the cluster; their keys are in Secret countersign-ledger-checkpoints. ${BY_FLAG}`,
    {
      webhook: text(2000, 'An https URL that each checkpoint is POSTed to.', { minLength: 0 }),
      signWebhook: flag('Sign what is sent there with the key webhook-secret.'),
      objectStore: flag('PUT each checkpoint to the pre-signed URL in the key object-url.'),
      witnesses: list(
        16,
        'Witnesses (C2SP tlog-witness).',
        text(2000, 'Its <name>+<key ID>+<base64>@<https URL>.'),
      ),
      ownCa: flag('Trust only the CAs in the key ca.crt.'),
      interval: text(16, 'How long at least between two of them. Default: 1m.', {
        pattern: '^[0-9]+[smhd]$',
      }),
    },
  ),
  monitoredSecrets: placedSecrets(
    'Secrets whose certificates it compares with the records, and may then read.',
    'The namespace of the Secret.',
  ),
  retention: text(16, `How long records are kept: 400d. Default: indefinitely. ${BY_FLAG}`, {
    pattern: '^[0-9]+[smhd]$',
  }),
  omit: list(
    16,
    `Members of records that are not kept. ${BY_FLAG}`,
    oneOf([...OMITTABLE_FIELDS], 'One member.'),
  ),
});

const pattern = text(512, 'An RE2 pattern of a whole name.', {
  pattern: "^[!#%'-;=?-[\\]-~]+$",
});
const duration = (description: string): Schema =>
  text(33, description, {
    minLength: 2,
    pattern: '^([0-9]{1,10}h)?([0-9]{1,10}m)?([0-9]{1,10}s)?$',
  });

const LEAF_LIMITS = object(['maxDuration'], 'Limits of what is signed with the key.', {
  maxDuration: duration('Longest validity of a leaf.'),
  maxBackdate: duration('How far notBefore may be in the past. Default: 10m.'),
  maxPostdate: duration('How far notBefore may be in the future. Default: 5m.'),
  keyTypes: list(16, 'Key types of leaves.', oneOf(KEY_TYPES, 'One key type.')),
  usages: list(32, 'Usages of leaves.', oneOf(LEAF_USAGES, 'One usage.')),
  names: object([], 'Patterns of names. A kind of names without one allows none.', {
    ...Object.fromEntries(
      ['commonNames', 'organizations', 'organizationalUnits', 'dnsNames', 'uris', 'emails'].map(
        (kind) => [kind, list(32, 'RE2 patterns of whole names.', pattern)],
      ),
    ),
    ipAddresses: list(
      32,
      'Networks of IP addresses.',
      text(64, 'Such as 10.0.0.0/8.', { pattern: '^[0-9A-Fa-f.:]+/[0-9]{1,3}$' }),
    ),
  }),
  crlUrls: list(4, 'CRL distribution points of leaves.', text(2048, 'An http or https URL.')),
});

/** A text without quotes, and without characters that JSON or a container argument would change. */
const plain = (max: number, description: string): ReturnType<typeof text> =>
  text(max, description, { pattern: "^[!#%'-;=?-\\[\\]-~]+( [!#%'-;=?-\\[\\]-~]+)*$" });

const TOKEN_KEY = object(
  ['token', 'label'],
  'The private key is in a PKCS#11 token, and the Secret has ca.crt and pin.',
  {
    token: plain(32, 'Label of the token.'),
    label: plain(255, 'CKA_LABEL of the private key.'),
    id: text(128, 'CKA_ID in hexadecimal.', { pattern: '^([0-9a-f]{2}){1,64}$' }),
  },
);

const TOKEN_MODULE = object(['image', 'module'], 'Module for keys in PKCS#11 tokens.', {
  image: text(512, 'Image of the sidecar, with the module.', {
    pattern: '^[a-z0-9][A-Za-z0-9._:/@-]*$',
  }),
  module: text(255, 'Path of the module in this image.', { pattern: '^/[A-Za-z0-9._/+-]+$' }),
  env: list(
    32,
    'Environment of the sidecar.',
    object(['name', 'value'], 'One variable.', {
      name: text(128, 'Its name.', { pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
      value: plain(1024, 'Its value.'),
    }),
  ),
  files: objectName(
    'Secret in the namespace of the components with files of the module, mounted at /run/countersign/module.',
  ),
});

const KEY_HOLDER = object(
  ['keys'],
  `Keys of CAs in a sidecar, which signs within these limits. The component cannot read them. For signer, pcr-issuer and certificate-request alone. ${BY_FLAG}`,
  {
    keys: list(
      16,
      'Keys, and the limits of each.',
      object(['name', 'secret', 'signerNames', 'leaf'], 'One key.', {
        name: text(63, 'Name of the key, as in spec.authority.keyHolder.key.', {
          pattern: DNS_LABEL,
        }),
        secret: objectName(
          'Secret in the namespace of the components with ca.key, ca.crt, and passphrase of an encrypted key.',
        ),
        encrypted: flag('Whether the key is encrypted. Default: false.'),
        pkcs11: TOKEN_KEY,
        signerNames: list(
          64,
          'Signer names that may use the key: the consent of its owner.',
          text(MAX_SIGNER_NAME, 'One of signers.'),
        ),
        leaf: LEAF_LIMITS,
      }),
    ),
    pkcs11: TOKEN_MODULE,
    resources: OVERRIDES['resources'] ?? {},
  },
);

/** Settings of one component. */
const SETTINGS = { ...OVERRIDES, podSecurityContext: POD_SECURITY_CONTEXT };

const SPEC = object(['version'], 'What is installed. The namespaces are flags of the operator.', {
  version: text(
    64,
    'Version of Countersign: any patch of the operator’s minor version, or of the one before.',
    {
      pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+$',
    },
  ),
  image: object(
    [],
    'The container image. Default: that of the operator, with version as its tag.',
    {
      reference: text(
        512,
        'The whole reference. Its repository must be allowed by the operator’s flags.',
      ),
      pullPolicy: oneOf(['Always', 'IfNotPresent', 'Never'], 'When the kubelet pulls it.'),
      pullSecrets: list(
        8,
        'Secrets for the registry, in the namespace of the components.',
        object(['name'], 'One Secret.', { name: objectName('Its name.') }),
      ),
    },
  ),
  signers: list(
    256,
    'What to serve: one item for each ClusterSigner. Roles and policies name exactly these.',
    object(['name'], 'One signer name.', {
      name: text(MAX_SIGNER_NAME, 'The signer name, such as example.com/workload.'),
      bundle: text(
        253,
        'Name of the bundle, spec.trustBundle.name; empty for none. Default: primary.',
        { minLength: 0 },
      ),
      secret: objectName(
        'Name of the Secret of its CA. Default: the path of the signer name and -ca.',
      ),
      serves: list(
        SERVED_KINDS.length,
        'Kinds of requests that its ClusterSigner serves. Only the components of these kinds may sign for it and read its CA key. Default: all kinds.',
        oneOf(SERVED_KINDS, 'One kind.'),
      ),
      keyHolder: flag(
        'Whether the key of its CA is in the key holders of these components. No component may then read a Secret of its CA. Default: false.',
      ),
    }),
  ),
  signerDomains: list(
    64,
    'Domains of which the roles grant every signer name (example.com/*) besides those of signers. A compromised component then signs for every name of the domain.',
    text(253, 'A domain of one of signers, such as example.com.', {
      pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
    }),
  ),
  namespacedSigners: object([], 'Signers that teams write in their own namespaces.', {
    enabled: flag('Serve the Signers of all namespaces as well.'),
    secrets: placedSecrets(
      'Their CA Secrets, which the components may then read.',
      'The namespace of the Signer.',
    ),
  }),
  acme: ACME,
  external: object([], 'What the component external-signer serves, where it is enabled.', {
    signers: list(
      256,
      'Signer names of ExternalClusterSigners.',
      text(MAX_SIGNER_NAME, 'Such as example.com/corporate.'),
    ),
    vaults: list(
      16,
      'Servers of Vault or OpenBao that ExternalClusterSigners may name.',
      text(267, 'Such as https://vault.example.com:8200.'),
    ),
  }),
  ledger: LEDGER,
  bundleEndpoint: object([], 'How bundle-endpoint proves itself, where the component is enabled.', {
    svidSigner: text(
      MAX_SIGNER_NAME,
      `Signer of the X509-SVID of its port for https_spiffe, which the kubelet gets and renews. Default: Secret countersign-bundle-endpoint-svid has it. ${BY_FLAG}`,
      { minLength: 0 },
    ),
  }),
  podServices: flag(
    'Let pcr-issuer read pods and Services, for signers with spec.pods.services, labels or ipAddresses.',
  ),
  upstreamIssuers: list(
    64,
    'Issuers of cert-manager that sign managed CAs (upstream.certManager).',
    text(640, 'Such as pki/ClusterIssuer.cert-manager.io/corporate.'),
  ),
  upstreamVaults: list(
    16,
    'Servers of Vault or OpenBao that sign managed CAs (upstream.vault).',
    text(267, 'Such as https://vault.example.com:8200.'),
  ),
  servingSigner: object(
    [],
    'The ClusterSigner whose CA signs the certificates of the components’ ports.',
    {
      create: flag('Make it. Default: true.'),
    },
  ),
  whoMayRequest: flag('Each requester needs the verb request. Default: false.'),
  defaults: object([], 'Settings of all components; each may override them.', SETTINGS),
  components: byComponent(
    'Settings of single components, by subcommand.',
    object([], 'Settings of one component.', {
      enabled: flag('Install it, where it may be left out.'),
      keyHolder: KEY_HOLDER,
      ...SETTINGS,
    }),
  ),
  dangerZone: object(
    [],
    'What no version vouches for. An administrator must allow it by a flag of the operator.',
    {
      extraArgs: byComponent(
        'Arguments that the version does not know, by subcommand.',
        EXTRA_ARGS,
      ),
    },
  ),
});

const KIND: Kind = {
  kind: 'Countersign',
  plural: 'countersigns',
  scope: 'Cluster',
  group: 'operator.countersign.dev',
  description:
    'A Countersign is the installation of Countersign in this cluster. There is one, and its name is cluster.',
  rules: [
    {
      rule: "self.metadata.name == 'cluster'",
      message: 'there is one Countersign in a cluster; name it cluster',
    },
  ],
  spec: SPEC,
  status: STATUS,
  columns: COLUMNS,
};

/** Renders deploy/crds/operator/countersigns.yaml. */
export function countersignCrd(): string {
  return fileOf(KIND);
}
