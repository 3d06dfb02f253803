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
    secrets: list(
      256,
      'Their CA Secrets, which the components may then read.',
      object(['namespace', 'name'], 'One Secret.', {
        namespace: text(63, 'The namespace of the Signer.', { pattern: DNS_LABEL }),
        name: objectName('Name of the Secret.'),
      }),
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
