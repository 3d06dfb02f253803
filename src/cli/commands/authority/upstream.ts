// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import type { AnchorChoice } from '#api/signer/cluster-signer.ts';
import { SignerError, messageOf } from '#base/errors.ts';
import { applyChange } from '#operations/apply-change.ts';
import { readSignerState } from '#operations/read-signer-state.ts';
import { EXIT_REFUSED, operationText } from '#operations/report.ts';
import { install } from '#operations/verbs/install.ts';
import { printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { inSession, type ChangeOptions } from './session.ts';

/** Flags of `countersign authority csr`. */
export interface CsrOptions extends UserOptions {
  readonly propagation: number;
}

/**
 * Runs `countersign authority csr`: prints the request that waits to be signed, as PEM.
 *
 * @throws SignerError if no certificate is awaited, or KubeError of the API server
 */
export async function printCsr(name: string, options: CsrOptions): Promise<void> {
  const { client } = await connectUser(options, 'authority');
  try {
    const init = { client, clock: Date.now, propagationSeconds: options.propagation };
    const { signer } = await readSignerState(init, name);
    const { request } = signer.status?.upstream ?? {};
    if (request === undefined) {
      throw usage(
        signer.spec.authority.managed?.upstream === undefined
          ? `${name} has no upstream CA: set spec.authority.managed.upstream.manual first`
          : `${name} awaits no certificate; countersign authority prepare ${name} creates a request`,
      );
    }
    printText(request);
  } finally {
    await client.close();
  }
}

/** Flags of `countersign authority install`. */
export interface InstallChainOptions extends ChangeOptions {
  readonly chain: string;
  readonly rootFingerprint?: string;
  readonly anchor?: AnchorChoice;
  readonly trustEverythingBelow: boolean;
}

/**
 * Runs `countersign authority install`.
 *
 * @returns the exit code
 * @throws SignerError if the file cannot be read, or KubeError of the API server
 */
export async function runInstall(name: string, options: InstallChainOptions): Promise<number> {
  const { rootFingerprint, anchor, trustEverythingBelow } = options;
  const text = await readText(options.chain);
  return inSession(name, options, async (session) => {
    const given = {
      text,
      trustEverythingBelow,
      ...(rootFingerprint === undefined ? {} : { rootFingerprint }),
      ...(anchor === undefined ? {} : { anchor }),
    };
    const plan = (state: Parameters<typeof install>[0]): ReturnType<typeof install> =>
      install(state, given);
    const report = await applyChange({ ...session, ...options, verb: 'install', plan });
    session.print(operationText(report));
    session.printStructured(report);
    return report.outcome === 'refused' ? EXIT_REFUSED : 0;
  });
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file === '-' ? '/dev/stdin' : file, 'latin1');
  } catch (error) {
    throw usage(`--chain ${file} cannot be read: ${messageOf(error)}`);
  }
}

function usage(message: string): SignerError {
  return new SignerError({ code: 'USAGE', disposition: 'fail', message });
}
