// SPDX-License-Identifier: Apache-2.0
import { quote } from '#base/quote.ts';
import type { VaultPlace } from '#api/signer/upstream-vault.ts';

export function fileUnnamed(server: string): string {
  return `name the file with the token for ${server} after "="`;
}

export function listedTwice(server: string): string {
  return `${quote(server)} is listed twice`;
}

export function tokenUnread(server: string, problem: string): string {
  return `the token for ${server} cannot be read: ${problem}`;
}

export function unreachable(server: string, detail: string): string {
  return `${server}: ${detail}`;
}

export function serverError(server: string, status: number, problem: string): string {
  return `${server} answered ${status}: ${problem}`;
}

export function unreadable(server: string): string {
  return `${server} gave an answer that Vault does not give; check server and mount`;
}

export function loginDenied({ server, auth }: VaultPlace, problem: string): string {
  return `${server} denied the login by auth/${auth.mount} with role ${auth.role}: ${problem}; the role must allow the ServiceAccount of this component and the audience ${server}`;
}

export function lost(server: string, detail: string): string {
  return `the answer of ${server} was lost, and it may have signed a certificate that is not used: ${detail}`;
}
