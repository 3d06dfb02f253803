// SPDX-License-Identifier: Apache-2.0
/** Types of a client-node file that its package does not export. plugin.ts finds the file. */
import type { RequestOptions } from 'node:https';
import type { User } from '@kubernetes/client-node';

export declare class OpenIDConnectAuth {
  applyAuthentication(user: User, options: RequestOptions): Promise<void>;
}
