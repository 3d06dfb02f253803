// SPDX-License-Identifier: Apache-2.0
/** Reads the answers of Vault. Their texts are those of another party, which knows our tokens. */
import { MAX_UPSTREAM_CHAIN } from '#api/signer/cluster-signer-limits.ts';
import type { HttpAnswer } from '#base/egress/exchange.ts';
import { membersOf } from '#base/record.ts';
import { parseJson } from '#kube/resource/json.ts';
import { foreignText } from './foreign-text.ts';

/** Returns the errors of an answer, quoted and without tokens. */
export function errorText({ body }: HttpAnswer, tokens: readonly string[]): string {
  const text = body.toString('utf8');
  const { errors } = membersOf(jsonOf(text));
  const said = Array.isArray(errors)
    ? errors.filter((each) => typeof each === 'string').join('; ')
    : text;
  return foreignText(said, tokens);
}

/** Returns the token of a login. Undefined if the answer has none that fits into a header. */
export function clientToken({ body }: HttpAnswer): string | undefined {
  const { auth } = membersOf(jsonOf(body.toString('utf8')));
  const token = membersOf(auth)['client_token'];
  return typeof token === 'string' && TOKEN.test(token) ? token : undefined;
}

/** Returns the member `data` of an answer. */
export function dataOf({ body }: HttpAnswer): unknown {
  return membersOf(jsonOf(body.toString('utf8')))['data'];
}

const TOKEN = /^[!-~]{1,8192}$/;

/**
 * Returns the certificates of an answer, each once and as PEM: that of `certificate`, then those of
 * `issuing_ca` and `ca_chain`. Undefined if it has none, or too many characters.
 */
export function certificatesOf(answer: HttpAnswer): readonly string[] | undefined {
  const data = membersOf(dataOf(answer));
  const { certificate, issuing_ca: issuer, ca_chain: chain } = data;
  const above: readonly unknown[] = Array.isArray(chain) ? chain : [chain];
  const texts = [certificate, issuer, ...above].filter((each) => typeof each === 'string');
  const blocks = texts.flatMap((each) =>
    [...each.replaceAll('\r\n', '\n').matchAll(BLOCK)].map(([block]) => `${block}\n`),
  );
  const unique = [...new Set(blocks)];
  const isLong = unique.join('').length > MAX_UPSTREAM_CHAIN;
  return typeof certificate !== 'string' || unique.length === 0 || isLong ? undefined : unique;
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Returns the value of a JSON text. Undefined for other texts. */
function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
