// SPDX-License-Identifier: Apache-2.0
/** Judges each request before anything is read for it. Pure. */

/** The parts of a request that the guard judges. */
export interface GuardedRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  /** Header fields by lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** The rejection of a request, with its reason. */
export interface Rejection {
  readonly status: 403 | 405 | 421;
  readonly why: string;
}

/** The parts of the console that the guard compares a request with. */
export interface GuardInit {
  /** `127.0.0.1:PORT` */
  readonly authority: string;
  /** Paths of forms. Empty for a console that only reads. */
  readonly forms: readonly string[];
}

/** Values of Sec-Fetch-Site for a page of this console, and for an address that a person opens. */
const OWN_SITES: readonly unknown[] = ['same-origin', 'none', undefined];

/**
 * Returns why a request is rejected, or undefined. A page of another origin, also one whose name
 * was rebound to this address, gets no answer, whatever cookie its browser sends.
 */
export function rejectionOf(
  { method, path, headers }: GuardedRequest,
  { authority, forms }: GuardInit,
): Rejection | undefined {
  const { host, origin, 'sec-fetch-site': site } = headers;
  if (host !== authority) {
    return {
      status: 421,
      why: `the header Host is not ${authority}: open the address that countersign console printed`,
    };
  }
  if (origin !== undefined && origin !== `http://${authority}`) {
    return {
      status: 403,
      why: 'the header Origin names another origin: open the address yourself',
    };
  }
  if (!OWN_SITES.includes(site)) {
    return {
      status: 403,
      why: `the header Sec-Fetch-Site is ${String(site)}: open the address yourself, not by a link of another page`,
    };
  }
  return method === 'GET' || method === 'HEAD'
    ? undefined
    : formRejection({ method, path, headers }, forms);
}

/** Returns why a request that may write is rejected. */
function formRejection(
  { method, path, headers }: GuardedRequest,
  forms: readonly string[],
): Rejection | undefined {
  if (method !== 'POST' || !forms.includes(path)) {
    return { status: 405, why: 'this path of the console accepts only GET and HEAD' };
  }
  // Every browser names the origin of a form. `none` is an address that a person opened.
  if (headers['origin'] === undefined || headers['sec-fetch-site'] === 'none') {
    return {
      status: 403,
      why: 'the request does not come from a page of this console: use its forms',
    };
  }
  return undefined;
}

/** Returns the value of a cookie, or undefined. */
export function cookieNamed(name: string, header: string | undefined): string | undefined {
  const pairs = (header ?? '').split(';').map((each) => each.trim());
  return pairs.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
}

/**
 * The policy of every response: nothing runs or loads but files of the console itself, and no
 * script makes markup of a text.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Header fields of every response. */
export const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  // No cache keeps pages: another user may not read the same.
  'cache-control': 'no-store',
};
