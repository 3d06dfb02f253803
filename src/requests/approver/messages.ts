// SPDX-License-Identifier: Apache-2.0
/** Texts of the approver, by where users read them. `ca/policy/denial-messages.ts` has denials. */
import { shellWord } from '#base/quote.ts';

// Events

export function undecided(name: string, omissions: string, cause: string): string {
  return `an administrator may decide with kubectl certificate approve ${shellWord(name, 'csr/')}${omissions}; ${cause}`;
}

export function omissions(parts: string): string {
  return `, whose certificate would have ${parts}`;
}

// Conditions

export function intermediateAllowed(rule: string, cluster: string, trustDomain: string): string {
  return `${rule}: allows the CA of cluster ${cluster}, trust domain ${trustDomain}`;
}
