// SPDX-License-Identifier: Apache-2.0
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import * as messages from '../messages.ts';

/**
 * Returns why the user of a namespace may not have these servers called, or undefined if the
 * administrator listed them. A further origin is that of a listed server, because the components
 * send signed calls to it.
 *
 * @param listed - URLs of directories
 */
export function serverRefusal(
  { server, additionalOrigins = [] }: AcmeSigner['spec']['acme'],
  listed: readonly string[],
): string | undefined {
  if (!listed.includes(server)) return messages.serverNotAllowed(server);
  const origins = listed.flatMap(originOf);
  const foreign = additionalOrigins.find(
    (each) => !originOf(each).some((origin) => origins.includes(origin)),
  );
  return foreign === undefined ? undefined : messages.originNotAllowed(foreign);
}

/** Returns none for a text that is not a URL. */
function originOf(text: string): readonly string[] {
  return URL.canParse(text) ? [new URL(text).origin] : [];
}
