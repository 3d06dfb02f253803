// SPDX-License-Identifier: Apache-2.0
import { parse } from 'yaml';
import { SignerError } from '#base/errors.ts';

/** An object of the API that holds a PKCS#10 request. */
interface RequestObject {
  readonly spec: { readonly request: string };
}

/**
 * Returns the spec in a file: of an object of `kind` as YAML, or only the request if the file is a
 * PKCS#10 request.
 *
 * @throws SignerError REQUEST_MALFORMED if the object has no `spec.request`
 */
export function writtenSpec<T extends RequestObject>(
  kind: string,
  text: string,
  fileName: string,
): Pick<T['spec'], 'request'> & Partial<T['spec']> {
  if (!new RegExp(`^kind:\\s*${kind}\\s*$`, 'm').test(text)) {
    return { request: Buffer.from(text).toString('base64') };
  }
  // `policy test` reads the rest as the API server would send it.
  const { spec } = parse(text) as Partial<T>;
  if (typeof spec?.request === 'string') return spec;
  throw new SignerError({
    code: 'REQUEST_MALFORMED',
    disposition: 'fail',
    message: `${fileName}: the ${kind} has no spec.request; add the PKCS#10 request`,
  });
}
