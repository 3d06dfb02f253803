// SPDX-License-Identifier: Apache-2.0

/** Who created a request, written by the API server and by nobody else (authentication.k8s.io UserInfo). */
export interface Requester {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}
