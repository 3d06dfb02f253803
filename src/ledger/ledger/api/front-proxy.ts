// SPDX-License-Identifier: Apache-2.0
/**
 * Authenticates requests that the API server forwards. It presents a client certificate and names
 * the user in headers
 * (https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/). Without the
 * certificate the headers prove nothing.
 */
import { validityOf } from '#pki/x509/validity.ts';
import { X509Certificate } from 'node:crypto';
import type { ApiRequest, ClientCertificate } from './answer.ts';

/** A caller, as the API server has authenticated it (authentication/v1 UserInfo). */
export interface ApiCaller {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** The CAs for the API server's client certificate, and the headers that name the user. */
export interface FrontProxy {
  /** PEM, as the ConfigMap has it. */
  readonly clientCa: string;
  readonly cas: readonly X509Certificate[];
  /** Accepted common names. An empty list accepts any. */
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraPrefixes: readonly string[];
}

/**
 * Parses the ConfigMap. Returns undefined if the API server has no client CA for this; then no
 * client is trusted.
 */
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
 * Returns the caller, or undefined if the API server did not send the request or names no user. TLS
 * has verified the certificate when the connection began. Here it must still be unexpired and from
 * a CA that is still published.
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
  const times = validityOf(leaf);
  const isInTime = times !== undefined && times.notBefore <= now && now < times.notAfter;
  return isInTime && cas.some((ca) => leaf.checkIssued(ca) && leaf.verify(ca.publicKey));
}

type Headers = ApiRequest['headers'];

/** Returns all values of the first of these headers that is present. */
function valuesOf(headers: Headers, names: readonly string[]): readonly string[] {
  const found = names.map((name) => headers[name]).find((values) => values !== undefined);
  return (found ?? []).map(utf8).filter((value) => value !== '');
}

/** Returns the values of headers such as `X-Remote-Extra-Scopes`. The suffix is percent-encoded. */
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
