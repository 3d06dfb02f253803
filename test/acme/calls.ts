// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import type { Answer, Ok, Problem } from '#acme/protocol/answer.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import { openAccountKey, type AccountKey } from '#acme/protocol/account-key.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';

/** A new account key. */
export async function newKey(type = 'ECDSAP256'): Promise<AccountKey> {
  return openAccountKey((await generatePrivateKey(type)).pem);
}

/** The value of an answer that must be one. */
export function valueOf<T>(answer: Answer<T>): T {
  return okOf(answer).value;
}

export function okOf<T>(answer: Answer<T>): Ok<T> {
  assert.ok(answer.kind === 'ok', JSON.stringify(answer));
  return answer;
}

export function problemOf(answer: Answer<unknown>): Problem {
  assert.ok(answer.kind === 'problem', JSON.stringify(answer));
  return answer;
}

export function noAnswerOf(answer: Answer<unknown>): NoAnswer {
  assert.ok(answer.kind === 'transport', JSON.stringify(answer));
  return answer;
}
