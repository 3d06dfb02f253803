// SPDX-License-Identifier: Apache-2.0
import { formatTime } from '#api/object/time.ts';
import { isSelfSigned } from '#pki/x509/issuers.ts';
import type { AcceptedChain } from './judge-chain.ts';
import { shown } from './refusals.ts';

/**
 * Returns what the user should know about an accepted chain. docs/how-to/own-root.md has the
 * verifiers that were tried.
 *
 * @param wantedEnd - milliseconds: the end of a CA of `duration` from now
 */
export function chainWarnings(
  { path, anchor }: AcceptedChain,
  wantedEnd: number,
): readonly string[] {
  const [certificate] = path;
  const constraints = path.flatMap(({ nameConstraints: of }) => [
    ...(of?.permitted ?? []),
    ...(of?.excluded ?? []),
  ]);
  const warnings: string[] = [];
  if (anchor !== certificate)
    warnings.push(
      `verifiers that read the bundle accept every certificate below ${shown(anchor)}, also those of other CAs`,
    );
  if (!isSelfSigned(anchor))
    warnings.push(
      `the anchor ${shown(anchor)} is an intermediate: OpenSSL and Node refuse it by default (OpenSSL needs -partial_chain)`,
    );
  if (constraints.some(({ kind }) => kind === 'uri'))
    warnings.push(
      'the chain has URI name constraints: rustls refuses every chain with one, and GnuTLS ignores them',
    );
  if (certificate.notAfter < wantedEnd)
    warnings.push(
      `the CA ends at ${formatTime(certificate.notAfter)}, earlier than spec.authority.managed.duration asks for: its successor is requested earlier`,
    );
  return warnings;
}
