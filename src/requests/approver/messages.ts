// SPDX-License-Identifier: Apache-2.0
/** Texts of the approver, by where users read them. `ca/policy/denial-messages.ts` has denials. */
import { shellWord } from '#base/quote.ts';
import { wouldFail } from '#ca/policy/denial-messages.ts';

// Events

export function undecided(name: string, omissions: string, cause: string): string {
  return `an administrator may decide: kubectl certificate approve ${shellWord(name, 'csr/')}${omissions}; ${cause}`;
}

export function hopeless(cause: string): string {
  return `${wouldFail(cause)}; do not approve it, and create a corrected request`;
}

export function omissions(parts: string): string {
  return `; its certificate would have ${parts}`;
}

// Conditions

export function intermediateAllowed(rule: string, cluster: string, trustDomain: string): string {
  return `${rule}: allows the CA of cluster ${cluster}, trust domain ${trustDomain}`;
}
