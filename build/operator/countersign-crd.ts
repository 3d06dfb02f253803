// SPDX-License-Identifier: Apache-2.0
/** The CustomResourceDefinition of Countersign: values of the chart, under the same names. */
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
