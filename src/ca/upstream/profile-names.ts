// SPDX-License-Identifier: Apache-2.0
/**
 * Names that leaves of a spec have for certain. They are compared with the name constraints of a
 * chain before it is installed. Each leaf is compared again before it is signed.
 */
import type { ClusterSignerSpec } from '#api/signer/cluster-signer.ts';
import type { SubjectAltNames } from '#pki/names/general-names.ts';
import { serviceNames } from '../issuance/service-names.ts';

/** A CEL string literal without escapes at the start of an expression. */
const LEADING = /^\s*'([^'\\]*)'/;
/** The same at its end, after a `+`, or as the whole expression. */
const TRAILING = /(?:^|\+)\s*'([^'\\]*)'\s*$/;
/** Scheme and whole authority of a URI. */
const URI_AUTHORITY = /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+\//i;
const DNS_SUFFIX = /^[a-z0-9.-]+$/i;

/**
 * Returns examples of the names, one for each expression that contains enough of its name as
 * literal text. Expressions are not evaluated: without a pod there is nothing to evaluate them on.
 */
export function profileNames({ pods }: Pick<ClusterSignerSpec, 'pods'>): SubjectAltNames {
  const { uris = [], dnsNames = [], services } = pods ?? {};
  const ofServices =
    services === undefined
      ? []
      : serviceNames(
          {
            namespace: 'namespace',
            hostname: '',
            subdomain: '',
            services: [{ name: 'service', isHeadless: false }],
          },
          services,
        );
  return {
    uris: uris.flatMap(exampleUri),
    dnsNames: [...dnsNames.flatMap(exampleDnsName), ...ofServices],
    ipAddresses: [],
    emails: [],
  };
}

function exampleUri(expression: string): readonly string[] {
  const prefix = URI_AUTHORITY.exec(LEADING.exec(expression)?.[1] ?? '')?.[0];
  return prefix === undefined ? [] : [`${prefix}name`];
}

/** Returns `name` before the literal end of the expression, which must be a whole label or more. */
function exampleDnsName(expression: string): readonly string[] {
  const suffix = TRAILING.exec(expression)?.[1] ?? '';
  if (!DNS_SUFFIX.test(suffix)) return [];
  if (suffix.startsWith('.')) return [`name${suffix}`];
  const isWhole = LEADING.exec(expression)?.[0] === expression.trimEnd();
  return isWhole ? [suffix] : [];
}
