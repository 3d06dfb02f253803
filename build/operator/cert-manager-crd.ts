// SPDX-License-Identifier: Apache-2.0
/** CustomResourceDefinition of CertManagerDeployment. */
import { CERT_MANAGER_COMPONENTS } from '#api/operator/cert-manager-deployment.ts';
import { object, text, type Kind, type Schema } from '../acme-crds/schema.ts';
import { COLUMNS, EXTRA_ARGS, OVERRIDES, STATUS, fileOf } from './installation-schema.ts';

const byComponent = (description: string, schema: Schema): Schema =>
  object(
    [],
    description,
    Object.fromEntries(CERT_MANAGER_COMPONENTS.map((component) => [component, schema])),
  );

const KIND: Kind = {
  kind: 'CertManagerDeployment',
  plural: 'certmanagerdeployments',
  scope: 'Cluster',
  group: 'operator.countersign.dev',
  description:
    'A CertManagerDeployment is the installation of cert-manager in this cluster. There is one, and its name is cluster.',
  rules: [
    {
      rule: "self.metadata.name == 'cluster'",
      message: 'there is one CertManagerDeployment in a cluster; name it cluster',
    },
  ],
  spec: object(['version'], 'What is installed, in the namespace cert-manager.', {
    version: text(
      64,
      'Version of cert-manager. Its release file is in the ConfigMap cert-manager-<version> of the operator’s namespace.',
      { pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+$' },
    ),
    components: byComponent(
      'Settings of single components.',
      object([], 'Settings of one component, besides those of the release.', OVERRIDES),
    ),
    dangerZone: object(
      [],
      'What no version vouches for. An administrator must allow it by a flag of the operator.',
      { extraArgs: byComponent('Arguments that the version does not know.', EXTRA_ARGS) },
    ),
  }),
  status: STATUS,
  columns: COLUMNS,
};

/** Renders deploy/crds/operator/certmanagerdeployments.yaml. */
export function certManagerCrd(): string {
  return fileOf(KIND);
}
