import { lazy, type ComponentType, type LazyExoticComponent } from "react";

export type Part<P> = LazyExoticComponent<ComponentType<P>> & { preload(): Promise<void> };

/**
 * The only way to load a part of the site on demand. `preload` lets the entry wait for the part of the
 * first route, so that server HTML is never replaced by a waiting state.
 */
export function part<P>(load: () => Promise<ComponentType<P>>): Part<P> {
  let loading: Promise<{ default: ComponentType<P> }> | undefined;
  const once = () => {
    loading ??= load().then((component) => ({ default: component }));
    // A chunk that failed once may load the next time somebody asks.
    loading.catch(() => (loading = undefined));
    return loading;
  };
  return Object.assign(lazy(once), {
    preload: async () => {
      await once();
    },
  });
}
