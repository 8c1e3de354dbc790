import { Navigate, Outlet, useLocation } from "react-router";
import { AdminSkeleton } from "@/features/admin-shell/components/admin-skeleton";
import { useAuth } from "@/lib/auth";
import type { ReturnState } from "@/lib/return-path";

// The path of the account page, where owners (accounts with the role admin) enrol a second factor.
const ACCOUNT_PATH = "/admin/account";

/**
 * Wraps the admin routes, and decides by session and role what is shown:
 *  - nobody is signed in, or the second factor is not verified yet: redirects to the sign-in page
 *  - an account without the role admin: redirects to the home page
 *  - an owner who must enrol a second factor: redirects from all other pages to the account page
 *  - until session and role are known: shows a skeleton, so that a reload does not redirect
 *
 * The guard does not protect data. The server does that: it checks the role at each request.
 */
export function AdminGuard() {
  const { loading, session, role, pendingFactors, mustEnrol } = useAuth();
  const { pathname, search } = useLocation();
  if (loading) return <AdminSkeleton />;
  // While there are pending factors, the sign-in is not complete.
  if (!session || pendingFactors.length > 0) {
    const state: ReturnState = { from: pathname + search };
    return <Navigate to="/admin/auth" state={state} replace />;
  }
  if (role !== "admin") return <Navigate to="/" replace />;
  if (mustEnrol && pathname !== ACCOUNT_PATH) return <Navigate to={ACCOUNT_PATH} replace />;
  return <Outlet />;
}
