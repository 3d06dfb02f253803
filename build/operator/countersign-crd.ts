// SPDX-License-Identifier: Apache-2.0
/** The CustomResourceDefinition of Countersign: values of the chart, under the same names. */
import { OMITTABLE_FIELDS } from '../../src/vocabulary.ts';
import { MAX_SIGNER_NAME } from '../../src/api/signer/signer-name.ts';
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
import { COLUMNS, EXTRA_ARGS, OVERRIDES, STATUS, fileOf } from './installation-schema.ts';

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
      'DNS providers that were written for cert-manager, which acme-solver may ask.',
      'Its <groupName>/<solverName>.',
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
  retention: text(16, `How long records are kept: 400d. Default: for ever. ${BY_FLAG}`, {
    pattern: '^[0-9]+[smhd]$',
  }),
  omit: list(
    16,
    `Members of records that are not kept. ${BY_FLAG}`,
    oneOf([...OMITTABLE_FIELDS], 'One member.'),
  ),
});

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
  servingSigner: object(
    [],
    'The ClusterSigner whose CA signs the certificates of the components’ ports.',
    {
      create: flag('Make it. Default: true.'),
    },
  ),
  whoMayRequest: flag('Each requester needs the verb request. Default: false.'),
  defaults: object([], 'Settings of all components; each may override them.', OVERRIDES),
  components: byComponent(
    'Settings of single components, by subcommand.',
    object([], 'Settings of one component.', {
      enabled: flag('Install it, where it may be left out.'),
      ...OVERRIDES,
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

/** deploy/crds/operator/countersigns.yaml. */
export function countersignCrd(): string {
  return fileOf(KIND);
}
