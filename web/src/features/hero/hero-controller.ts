import {
  heroStep,
  initialHero,
  type HeroCommand,
  type HeroEvent,
  type HeroState,
  type Timer,
} from "@/features/hero/hero-machine";

/** The time and the timers of the browser, in milliseconds. Tests replace them. `set` returns the id of a timer, for `clear`. */
export type Clock = {
  now(): number;
  set(run: () => void, ms: number): number;
  clear(id: number): void;
};

/** What the state machine controls on the page: the movement of the carousel and its videos. */
export type Stage = {
  /** Moves to the next slide. */
  advance(): void;
  /** Plays the video of a slide. Rejects if the browser refuses to play. */
  play(index: number, fromStart: boolean): Promise<void>;
  pause(index: number): void;
};

/** The running state machine of the hero, the carousel at the top of the home page. */
export type HeroController = {
  send(event: HeroEvent): void;
  getState(): HeroState;
  subscribe(listener: () => void): () => void;
  /** Stops all timers and videos until the next "slides" event. */
  stop(): void;
};

/** Runs the state machine of the hero: keeps the state, executes the commands, and sends an event when a timer ends. */
export function createHeroController(clock: Clock, stage: Stage): HeroController {
  let state = initialHero;
  const timers: Partial<Record<Timer, number>> = {};
  const listeners = new Set<() => void>();

  function cancel(timer: Timer) {
    const id = timers[timer];
    if (id !== undefined) clock.clear(id);
    delete timers[timer];
  }

  function execute(command: HeroCommand) {
    switch (command.do) {
      case "arm": {
        const { timer, after } = command;
        cancel(timer);
        timers[timer] = clock.set(() => {
          delete timers[timer];
          // The timer "dwell" ends when the slide's time is over, the timer "video" when a video is to play.
          send({ type: timer === "dwell" ? "dwell-over" : "video-due" });
        }, after);
        return;
      }
      case "cancel":
        return cancel(command.timer);
      case "advance":
        return stage.advance();
      case "play":
        return void play(command.index, command.fromStart);
      case "pause":
        return stage.pause(command.index);
    }
  }

  async function play(index: number, fromStart: boolean) {
    try {
      await stage.play(index, fromStart);
      send({ type: "video-playing", index });
    } catch {
      send({ type: "video-stopped", index });
    }
  }

  function send(event: HeroEvent) {
    const [next, commands] = heroStep(state, event, clock.now());
    const changed = next !== state;
    state = next;
    for (const command of commands) execute(command);
    if (changed) for (const listener of listeners) listener();
  }

  return {
    send,
    getState: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: () => send({ type: "slides", slides: [] }),
  };
}
