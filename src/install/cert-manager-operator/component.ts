// SPDX-License-Identifier: Apache-2.0
import type { ProcessDescriptor } from '#component/descriptor.ts';
import { CERT_MANAGER_OPERATOR_FLAGS } from './flags.ts';

/**
 * The component that installs cert-manager. Its objects are those of
 * `countersign rbac --cert-manager-operator`.
 */
export const certManagerOperator: ProcessDescriptor<'cert-manager-operator'> = {
  name: 'cert-manager-operator',
  summary:
    'run the component that installs and heals cert-manager, from one CertManagerDeployment object',
  flags: CERT_MANAGER_OPERATOR_FLAGS,
  load: () => import('./run.ts'),
  leads: true,
};
