(* one_copy: one order of certification, and members that apply in it.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

Variable Member : Type.
Variable some_Member : Member.
Variable eqb_Member : Member -> Member -> bool.
Hypothesis eqb_Member_true : forall x y, eqb_Member x y = true <-> x = y.

Variable Row : Type.
Variable some_Row : Row.
Variable eqb_Row : Row -> Row -> bool.
Hypothesis eqb_Row_true : forall x y, eqb_Row x y = true <-> x = y.

Variable Txn : Type.
Variable some_Txn : Txn.
Variable eqb_Txn : Txn -> Txn -> bool.
Hypothesis eqb_Txn_true : forall x y, eqb_Txn x y = true <-> x = y.

(* What no step changes. *)
Variable ws : Txn -> Row -> bool.
Variable rs : Txn -> Row -> bool.

Record state : Type := {
  n : Z;
  begun : Txn -> bool;
  home : Txn -> Member;
  snap : Txn -> Z;
  saw : Txn -> Row -> Z;
  delivered : Txn -> bool;
  certified : Txn -> bool;
  place : Txn -> Z;
  txn_at : Z -> Txn;
  upto : Member -> Z;
  value_ : Member -> Row -> Z;
  version : Z -> Row -> Z
}.

Definition init_empty (st : state) : Prop :=
  (Z.eqb (n st) 0) = true.

Definition init_nothing_begun (st : state) : Prop :=
  (forall t : Txn, ((negb (begun st t)) && ((negb (delivered st t)) && (negb (certified st t)))) = true).

Definition init_nothing_applied (st : state) : Prop :=
  (forall m : Member, (Z.eqb (upto st m) 0) = true).

Definition init_nothing_stored (st : state) : Prop :=
  (forall m : Member, (forall r : Row, (Z.eqb (value_ st m r) (-1)) = true)).

Definition init_nothing_written (st : state) : Prop :=
  (forall r : Row, (Z.eqb (version st 0 r) (-1)) = true).

Definition init (st : state) : Prop :=
  init_empty st /\ init_nothing_begun st /\ init_nothing_applied st /\ init_nothing_stored st /\ init_nothing_written st.

(* a client's transaction begins and reads what its member has applied *)
Definition guard_begin (st : state) (t : Txn) (m : Member) : Prop :=
  (negb (begun st t)) = true.
Definition act_begin (st : state) (t : Txn) (m : Member) : state :=
  {|
     n := n st;
     begun := fun (x0 : Txn) => ((begun st x0) || (eqb_Txn x0 t));
     home := fun (x0 : Txn) => (if (eqb_Txn x0 t) then m else (home st x0));
     snap := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (upto st m) else (snap st x0));
     saw := fun (x0 : Txn) (x1 : Row) => (if (eqb_Txn x0 t) then (value_ st m x1) else (saw st x0 x1));
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     upto := upto st;
     value_ := value_ st;
     version := version st
  |}.

(* nothing in its write set is newer than its snapshot *)
Definition guard_certify (st : state) (t : Txn) : Prop :=
  (((begun st t) = true) /\ (((negb (delivered st t)) = true) /\ ((forall r : Row, ((negb (ws t r)) || ((version st (n st) r) <? (snap st t))) = true)))).
Definition act_certify (st : state) (t : Txn) : state :=
  {|
     n := ((n st) + 1);
     begun := begun st;
     home := home st;
     snap := snap st;
     saw := saw st;
     delivered := fun (x0 : Txn) => ((delivered st x0) || (eqb_Txn x0 t));
     certified := fun (x0 : Txn) => ((certified st x0) || (eqb_Txn x0 t));
     place := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (n st) else (place st x0));
     txn_at := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then t else (txn_at st x0));
     upto := upto st;
     value_ := value_ st;
     version := fun (x0 : Z) (x1 : Row) => (if (Z.eqb x0 ((n st) + 1)) then (if (ws t x1) then (n st) else (version st (n st) x1)) else (version st x0 x1))
  |}.

(* a row was certified after its snapshot *)
Definition guard_refuse (st : state) (t : Txn) (r : Row) : Prop :=
  ((begun st t) && ((negb (delivered st t)) && ((ws t r) && ((snap st t) <=? (version st (n st) r))))) = true.
Definition act_refuse (st : state) (t : Txn) (r : Row) : state :=
  {|
     n := ((n st) + 1);
     begun := begun st;
     home := home st;
     snap := snap st;
     saw := saw st;
     delivered := fun (x0 : Txn) => ((delivered st x0) || (eqb_Txn x0 t));
     certified := fun (x0 : Txn) => (certified st x0);
     place := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (n st) else (place st x0));
     txn_at := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then t else (txn_at st x0));
     upto := upto st;
     value_ := value_ st;
     version := fun (x0 : Z) (x1 : Row) => (if (Z.eqb x0 ((n st) + 1)) then (version st (n st) x1) else (version st x0 x1))
  |}.

(* a member commits the next position, its own transactions as those of others *)
Definition guard_apply (st : state) (m : Member) : Prop :=
  ((upto st m) <? (n st)) = true.
Definition act_apply (st : state) (m : Member) : state :=
  {|
     n := n st;
     begun := begun st;
     home := home st;
     snap := snap st;
     saw := saw st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     upto := fun (x0 : Member) => (if (eqb_Member x0 m) then ((upto st m) + 1) else (upto st x0));
     value_ := fun (x0 : Member) (x1 : Row) => (if ((eqb_Member x0 m) && ((certified st (txn_at st (upto st m))) && (ws (txn_at st (upto st m)) x1))) then (upto st m) else (value_ st x0 x1));
     version := version st
  |}.

Inductive step (st : state) : state -> Prop :=
| step_begin : forall (t : Txn) (m : Member), guard_begin st t m ->
    step st (act_begin st t m)
| step_certify : forall (t : Txn), guard_certify st t ->
    step st (act_certify st t)
| step_refuse : forall (t : Txn) (r : Row), guard_refuse st t r ->
    step st (act_refuse st t r)
| step_apply : forall (m : Member), guard_apply st m ->
    step st (act_apply st m).

(* at its position, no row that it writes is newer than its snapshot *)
Definition inv_what_is_written_is_current (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, ((negb ((certified st t) && (ws t r))) || ((version st (place st t) r) <? (snap st t))) = true)).

(* it is inductive *)
Definition inv_reads_are_of_one_snapshot (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, ((negb (begun st t)) || (Z.eqb (saw st t r) (version st (snap st t) r))) = true)).

(* it is inductive *)
Definition inv_members_show_prefixes (st : state) : Prop :=
  (forall m : Member, (forall r : Row, (Z.eqb (value_ st m r) (version st (upto st m) r)) = true)).

(* no certified writer before a position is later than its version *)
Definition inv_no_later_writer_is_missed (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, (forall r : Row, ((negb ((certified st t) && ((ws t r) && (((place st t) <? p) && (p <=? (n st)))))) || ((place st t) <=? (version st p r))) = true))).

(* a version is a certified writer before the position, or none *)
Definition inv_versions_are_certified_writers (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && (p <=? (n st)))) || ((Z.eqb (version st p r) (-1)) || ((0 <=? (version st p r)) && (((version st p r) <? p) && ((certified st (txn_at st (version st p r))) && (ws (txn_at st (version st p r)) r)))))) = true)).

(* each delivered transaction has a position of its own *)
Definition inv_places_are_positions (st : state) : Prop :=
  (forall t : Txn, (((negb (delivered st t)) || ((begun st t) && ((0 <=? (place st t)) && (((place st t) <? (n st)) && (eqb_Txn (txn_at st (place st t)) t))))) && ((negb (certified st t)) || (delivered st t))) = true).

(* and each position a transaction *)
Definition inv_positions_are_places (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (n st)))) || ((delivered st (txn_at st p)) && (Z.eqb (place st (txn_at st p)) p))) = true).

(* nobody applies what was not delivered *)
Definition inv_members_are_in_the_order (st : state) : Prop :=
  (forall m : Member, ((0 <=? (upto st m)) && ((upto st m) <=? (n st))) = true).

(* a snapshot is what a member had applied, perhaps long ago *)
Definition inv_snapshots_are_prefixes (st : state) : Prop :=
  (forall t : Txn, ((negb (begun st t)) || ((0 <=? (snap st t)) && (((snap st t) <=? (n st)) && ((negb (delivered st t)) || ((snap st t) <=? (place st t)))))) = true).

(* of two certified writers of a row, on whichever members, the later had seen the earlier: no update is lost *)
Definition safe_first_committer_wins (st : state) : Prop :=
  (forall t : Txn, (forall u : Txn, (forall r : Row, ((negb ((certified st t) && ((certified st u) && ((ws t r) && ((ws u r) && ((place st t) <? (place st u))))))) || ((place st t) <? (snap st u))) = true))).

(* each read is of the last certified writer before the transaction's snapshot *)
Definition safe_reads_are_of_one_snapshot (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, ((negb (begun st t)) || (Z.eqb (saw st t r) (version st (snap st t) r))) = true)).

(* each member shows the certified order up to some position, so no two readers disagree about the order *)
Definition safe_members_show_prefixes (st : state) : Prop :=
  (forall m : Member, (forall r : Row, (Z.eqb (value_ st m r) (version st (upto st m) r)) = true)).

(* `version` is the last certified writer before the position *)
Definition safe_versions_are_of_the_last_writer (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, (forall r : Row, (((negb ((certified st t) && ((ws t r) && (((place st t) <? p) && (p <=? (n st)))))) || ((place st t) <=? (version st p r))) && ((negb ((0 <=? p) && (p <=? (n st)))) || ((Z.eqb (version st p r) (-1)) || ((0 <=? (version st p r)) && (((version st p r) <? p) && ((certified st (txn_at st (version st p r))) && (ws (txn_at st (version st p r)) r))))))) = true))).

