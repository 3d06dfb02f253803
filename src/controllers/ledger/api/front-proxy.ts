// SPDX-License-Identifier: Apache-2.0
/**
 * For whom the API server asks. It proves itself by a certificate and names the user in headers
 * (https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/): without the certificate the headers
 * are words of a stranger.
 */
import { X509Certificate } from 'node:crypto';
import type { ApiRequest, ClientCertificate } from './answer.ts';

/** Who asks, as the API server has authenticated them (authentication/v1 UserInfo). */
export interface ApiCaller {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** By what the API server is known, and in which headers it names the user. */
export interface FrontProxy {
  /** PEM, as published. */
  readonly clientCa: string;
  readonly cas: readonly X509Certificate[];
  /** Common names; any if there are none. */
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraPrefixes: readonly string[];
}

/** Nothing where the API server has no client CA for this: then nobody can be believed. */
export function frontProxyOf(data: Readonly<Record<string, string>>): FrontProxy | undefined {
  const clientCa = data['requestheader-client-ca-file'] ?? '';
  const cas = certificatesIn(clientCa);
  if (cas.length === 0) return undefined;
  return {
    clientCa,
    cas,
    allowedNames: listIn(data['requestheader-allowed-names']),
    usernameHeaders: headersIn(data['requestheader-username-headers']),
    uidHeaders: headersIn(data['requestheader-uid-headers']),
    groupHeaders: headersIn(data['requestheader-group-headers']),
    extraPrefixes: headersIn(data['requestheader-extra-headers-prefix']),
  };
}

/**
 * Who asks; nothing if it is not the API server that says so, or it names nobody. TLS has verified the certificate when the
 * connection began: here it must still be in time, and of a CA that is still published.
 *
 * @param now - milliseconds since 1970
 */
export function callerOf(
  front: FrontProxy | undefined,
  { headers, certificate }: Pick<ApiRequest, 'headers' | 'certificate'>,
  now: number,
): ApiCaller | undefined {
  if (front === undefined || certificate === undefined) return undefined;
  if (!isProof(front, certificate, now)) return undefined;
  const [username = ''] = valuesOf(headers, front.usernameHeaders);
  if (username === '') return undefined;
  const [uid = ''] = valuesOf(headers, front.uidHeaders);
  return {
    username,
    ...(uid === '' ? {} : { uid }),
    groups: valuesOf(headers, front.groupHeaders),
    extra: extraOf(headers, front.extraPrefixes),
  };
}

function isProof(
  { cas, allowedNames }: FrontProxy,
  { commonName, raw }: ClientCertificate,
  now: number,
): boolean {
  if (allowedNames.length > 0 && !allowedNames.includes(commonName)) return false;
  const leaf = new X509Certificate(raw);
  const isInTime = leaf.validFromDate.getTime() <= now && now < leaf.validToDate.getTime();
  return isInTime && cas.some((ca) => leaf.checkIssued(ca) && leaf.verify(ca.publicKey));
}

type Headers = ApiRequest['headers'];

/** All values of the first of these headers that is there. */
function valuesOf(headers: Headers, names: readonly string[]): readonly string[] {
  const found = names.map((name) => headers[name]).find((values) => values !== undefined);
  return (found ?? []).map(utf8).filter((value) => value !== '');
}

/** `X-Remote-Extra-Scopes`; the rest of the name is percent-encoded. */
function extraOf(headers: Headers, prefixes: readonly string[]): ApiCaller['extra'] {
  const extra: Record<string, readonly string[]> = {};
  for (const [name, values = []] of Object.entries(headers)) {
    const prefix = prefixes.find((each) => name.startsWith(each));
    if (prefix === undefined) continue;
    const key = decoded(name.slice(prefix.length));
    extra[key] = [...(extra[key] ?? []), ...values.map(utf8)];
  }
  return extra;
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

function utf8(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8');
}

function listIn(text: string | undefined): readonly string[] {
  const list: unknown = text === undefined || text === '' ? [] : JSON.parse(text);
  return Array.isArray(list) ? list.map(String) : [];
}

function headersIn(text: string | undefined): readonly string[] {
  return listIn(text).map((name) => name.toLowerCase());
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function certificatesIn(pem: string): readonly X509Certificate[] {
  return (pem.match(PEM) ?? []).map((each) => new X509Certificate(each));
}
