// SPDX-License-Identifier: Apache-2.0
import type { RefusalRule } from '../refusal.ts';

/** Directory names, registered ids and other names have no rule that could allow them. */
export const nameKinds: RefusalRule = ({ request }) =>
  request.sans.other === 0
    ? undefined
    : {
        reason: 'UnknownNameKind',
        message: `${request.sans.other} of the subject alternative names are neither DNS names, IP addresses, URIs nor emails; ask without them`,
      };
