// An authenticator app: makes the codes of a second factor (RFC 6238: SHA-1, six digits, 30 seconds).
import { createHmac } from "node:crypto";

const period = 30; // seconds
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

export class Authenticator {
  #key: Buffer;
  /** The time step of the last returned code. */
  #last = Math.floor(Date.now() / 1000 / period) - 2;

  constructor(secret: string) {
    const bits = Array.from(secret, (c) => alphabet.indexOf(c).toString(2).padStart(5, "0")).join(
      "",
    );
    this.#key = Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)));
  }

  /**
   * Returns a code that was not returned before. The server accepts the codes of three time steps, so at most three calls in
   * a row return valid codes.
   */
  next(): string {
    let oldest = Math.floor(Date.now() / 1000 / period) - 1;
    // Wait for the next step if this one ends soon, because a busy page may need seconds to send the code.
    const left = period * 1000 - (Date.now() % (period * 1000));
    if (this.#last < oldest && left < 5_000) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, left + 10);
      oldest++;
    }
    this.#last = Math.max(this.#last + 1, oldest);
    return this.#code(this.#last);
  }

  /** Returns the last code again. */
  again(): string {
    return this.#code(this.#last);
  }

  #code(step: number): string {
    const counter = Buffer.alloc(8);
    counter.writeBigUInt64BE(BigInt(step));
    const mac = createHmac("sha1", this.#key).update(counter).digest();
    const at = mac[19]! & 15;
    return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, "0");
  }
}
