// SPDX-License-Identifier: Apache-2.0
import type { ProcessDescriptor } from '#component/descriptor.ts';
import { OPERATOR_FLAGS } from './flags.ts';

/**
 * The component that installs the components. It is not one of them: its objects are those of
 * `countersign rbac --operator`.
 */
export const operator: ProcessDescriptor<'operator'> = {
  name: 'operator',
  summary: 'run the component that installs and heals all others, from one Countersign object',
  flags: OPERATOR_FLAGS,
  load: () => import('./run.ts'),
  leads: true,
};
