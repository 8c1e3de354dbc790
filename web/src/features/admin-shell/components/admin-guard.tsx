import { Navigate, Outlet, useLocation } from "react-router";
import { AdminSkeleton } from "@/features/admin-shell/components/admin-skeleton";
import { useAuth } from "@/lib/auth";
import type { ReturnState } from "@/lib/return-path";

// The account page. It is the only admin page that opens before a required second factor is enrolled, because the owner
// enrols it there.
const ACCOUNT = "/admin/account";

/**
 * Wraps the admin routes: redirects visitors without a session to the sign-in page and accounts without the admin role to
 * the home page. Until session and role are known, it shows a skeleton, so that a reload does not redirect. The guard
 * protects no data, because the server checks the role at each request.
 */
export function AdminGuard() {
  const { loading, session, role, pendingFactors, mustEnrol } = useAuth();
  const { pathname, search } = useLocation();
  if (loading) return <AdminSkeleton />;
  // With pending factors the sign-in is not complete: a second factor must still be verified.
  if (!session || pendingFactors.length > 0) {
    const state: ReturnState = { from: pathname + search };
    return <Navigate to="/admin/auth" state={state} replace />;
  }
  if (role !== "admin") return <Navigate to="/" replace />;
  if (mustEnrol && pathname !== ACCOUNT) return <Navigate to={ACCOUNT} replace />;
  return <Outlet />;
}
