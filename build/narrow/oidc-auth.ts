// SPDX-License-Identifier: Apache-2.0
/** Replaces client-node's OIDC, and loads it and its OAuth client when a kubeconfig names it. */
import type { RequestOptions } from 'node:https';
import type { User } from '@kubernetes/client-node';
import type { OpenIDConnectAuth as Real } from './oidc_auth.js';

/** Methods of client-node's class that its KubeConfig calls. */
export class OpenIDConnectAuth {
  #real: Promise<Real> | undefined;

  isAuthProvider(user: { readonly authProvider?: { readonly name?: unknown } }): boolean {
    return user.authProvider?.name === 'oidc';
  }

  async applyAuthentication(user: User, options: RequestOptions): Promise<void> {
    this.#real ??= load();
    await (await this.#real).applyAuthentication(user, options);
  }
}

async function load(): Promise<Real> {
  const { OpenIDConnectAuth: RealAuth } = await import('./oidc_auth.js');
  return new RealAuth();
}
