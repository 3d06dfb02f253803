// SPDX-License-Identifier: Apache-2.0
/** Flag and permission with which a component reads events before its start from the ledger. */
import { LEDGER_API } from '#api/signer/own-tls.ts';
import type { Flag } from '#component/flag.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import * as messages from './messages.ts';

/** Flags of components that read the ledger. */
export interface FactsFlags {
  readonly ledgerFacts?: boolean;
}

/** {@link FactsFlags} */
export const FACTS_FLAG: Flag = {
  flag: '--ledger-facts',
  help: messages.FACTS_HELP,
};

/** Permissions of a ledger reader, which the ledger checks both (ADR 0056). */
export const TO_READ_RECORDS: PermissionRule = {
  apiGroups: [LEDGER_API.group],
  resources: ['records'],
  verbs: ['get', 'list'],
};
